# frozen_string_literal: true

# Kills, stops and ends processes at random. Chooses them from the ledger, which has workers and their children too, and
# checks that a pid still belongs to the process that the ledger means.

require_relative "supervisor"

module Soak
  # The events, one after the other, and their counts.
  class Chaos
    HANG_SECONDS = 60

    # What happened => how often.
    attr_reader :counts

    # @param setting [Setting]
    # @param supervisor [Supervisor]
    # @param random [Random]
    # @param hostile [Boolean] is the file removed and cut by hand, too?
    def initialize(setting, supervisor, random, hostile: false)
      @book = setting.book
      @path = setting.path
      @supervisor = supervisor
      @random = random
      @hostile = hostile
      @stopped = {} # pid => when to go on, when it started, is it killed then?
      @seen = {} # slot => [pid, beat, when it changed]
      @counts = Hash.new(0)
      @next_hostile = now + 10
    end

    # Does one of these things, or nothing. Called often.
    def disturb
      continue
      return unless @random.rand(4).zero?

      pid = victim
      case @random.rand(10)
      when 0..4 then kill(pid)
      when 5..7 then stop(pid)
      when 8 then tell(pid)
      end
      turn_hostile if @hostile && now > @next_hostile
    end

    # Continues all stopped processes.
    def continue_all
      @stopped.each_value { |entry| entry[0] = 0 }
      continue
    end

    # A process that does nothing although it is not stopped hangs.
    def look_for_hangs
      live_slots.each do |slot, pid|
        beat = @book[@book.slot(slot) + Book::BEAT]
        seen = @seen[slot]
        if seen.nil? || seen[0] != pid || seen[1] != beat || @stopped.key?(pid)
          @seen[slot] = [pid, beat, now]
        elsif now - seen[2] > HANG_SECONDS
          @book.wrong("process #{pid} in slot #{slot} did nothing for #{HANG_SECONDS} s")
          seen[2] = now
        end
      end
    end

    # @return [Array<Array(Integer, Integer)>] slot and pid
    def live_slots
      Array.new(Book::SLOTS) { |slot| [slot, @book[@book.slot(slot) + Book::PID]] }
           .select { |slot, pid| pid.positive? && same?(pid, slot) }
    end

    private

    # @return [Array(Integer, Integer), nil] slot and pid
    def victim
      safe = @supervisor.lasting
      live_slots.reject { |_, pid| safe.key?(pid) }.sample(random: @random)
    end

    # A number is given to another process some time after its owner ended.
    def same?(pid, slot)
      started_at?(pid, @book[@book.slot(slot) + Book::STARTED])
    end

    def started_at?(pid, ticks)
      fields = File.read("/proc/#{pid}/stat").rpartition(")").last.split
      fields[0] != "Z" && fields[19].to_i == ticks
    rescue Errno::ENOENT, Errno::ESRCH
      false
    end

    def kill((_, pid))
      @counts[:killed] += 1 if pid && @supervisor.signal(pid, :KILL)
    end

    def tell((_, pid))
      @counts[:told_to_end] += 1 if pid && !@stopped.key?(pid) && @supervisor.signal(pid, :TERM)
    end

    # Mostly for a moment, seldom for seconds; some are killed while they are stopped.
    def stop((slot, pid))
      return if pid.nil? || @stopped.key?(pid)

      started = @book[@book.slot(slot) + Book::STARTED]
      return unless @supervisor.signal(pid, :STOP)

      seconds = @random.rand(6).zero? ? 0.5 + (@random.rand * 2) : 0.005 + (@random.rand * 0.3)
      @stopped[pid] = [now + seconds, started, @random.rand(12).zero?]
      @book.raise_to(Book::STOPPED_AT, Book.now)
      @counts[:stopped] += 1
    end

    def continue
      due = @stopped.select { |_, (ends)| now >= ends }
      due.each do |pid, (_, started, dies)| # its slot may be another's by now: it was about to leave
        @stopped.delete(pid)
        @book.raise_to(Book::STOPPED_AT, Book.now)
        next unless started_at?(pid, started)

        dies ? kill([nil, pid]) : @supervisor.signal(pid, :CONT)
      end
    end

    # What an operator should not do.
    def turn_hostile
      @next_hostile = now + 8 + (@random.rand * 10)
      @book.raise_to(Book::HOSTILE, Book.now)
      if @random.rand(2).zero?
        File.delete(@path)
        @counts[:removed] += 1
      else
        File.truncate(@path, @random.rand(File.size(@path)))
        @counts[:cut] += 1
      end
      @book.raise_to(Book::HOSTILE, Book.now)
    rescue Errno::ENOENT
      nil
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
