# frozen_string_literal: true

# One soak from beginning to end: starts everything, lets it work, pauses to measure, ends everything, judges.

require "fileutils"
require_relative "chaos"
require_relative "drift"
require_relative "findings"
require_relative "leaks"
require_relative "meter"
require_relative "supervisor"

module Soak
  # The first process.
  class Run
    ROOT = File.expand_path("../..", __dir__)
    PROGRESS_SECONDS = 10
    # When all rest to be measured, as shares of the time. What leaks is compared with the first.
    RESTS = [0.1, 0.3, 0.5, 0.7, 0.9].freeze
    REST_SECONDS = 60
    # What two files of one size that are filled alike may differ by.
    ROOM = 0.03

    # @param options [Hash{Symbol => Object}] of Options
    # @param output [IO] for progress
    def initialize(options, output = $stderr)
      @options = options
      @output = output
      @random = Random.new(options[:seed])
      @seconds = options[:minutes] * 60
      @findings = Findings.new
      @told_to_end = false
    end

    # @return [Findings]
    def soak
      prepare
      trap("INT") { @told_to_end ? exit!(130) : @told_to_end = true }
      trap("TERM") { @told_to_end = true }
      age
    rescue StandardError => e
      @findings.failures << "#{e.class}: #{e.message} (#{e.backtrace.first(4).join(", ")})"
      @findings
    ensure
      @supervisor&.kill_all
      clean_up
    end

    private

    def prepare
      @directory = File.expand_path(@options[:directory] || File.join(ROOT, "tmp/soak/#{Process.pid}"))
      FileUtils.mkdir_p(File.join(@directory, "cache"))
      build
      @setting = Setting.new(File.join(built, "soak/book.so"), File.join(@directory, "book"),
                             File.join(@directory, "cache/soak.larder"), @options[:size])
      @book = @setting.book
      @book.adopt_orphans
      @supervisor = Supervisor.new(@setting, @random, File.join(built, "soak/worker"), @options[:workers])
      @chaos = Chaos.new(@setting, @supervisor, @random, hostile: @options[:hostile])
      @leaks = Leaks.new(@setting)
      say "seed #{@options[:seed]}, #{@directory}"
    end

    def built
      File.join(ROOT, "tmp/soak/build")
    end

    def build
      return if system("make", "-s", "-C", File.join(ROOT, "engine"), "soak", "BUILD=#{built}", out: :err)

      raise "engine/soak could not be built; see above"
    end

    def age
      @meter = Meter::Remote.new(@setting, File.join(@directory, "fresh"))
      @supervisor.adopt(@meter.pid, :meter)
      say "fills three files alike and measures them"
      @held_first = filled
      @first = @meter.ask(:measure, long)
      say "starts the processes"
      work
      @worked = now - @started
      @chaos.continue_all
      finish unless wrong?
      @meter.close
      @supervisor.clear
      count
      @findings
    end

    # The start and the end are measured for so long, what is between for a quarter of it.
    def long
      return 0.1 unless @options[:judge]

      (@seconds / 20).clamp(1.5, 120)
    end

    def work
      @started = now
      @next_progress = @started + PROGRESS_SECONDS
      rests = RESTS.map { |share| @started + (@seconds * share) }
      rests = rests.values_at(1, 4) if @seconds < 60
      ends = @started + @seconds
      until now > ends || @told_to_end || wrong?
        step
        next if rests.empty? || now < rests.first

        rests.shift
        ends += at_rest { pause }
      end
    end

    def step
      @supervisor.fill
      if @options[:chaos]
        5.times { sleep(0.01 + (@random.rand * 0.1)) && @chaos.disturb }
      else
        sleep(0.2)
      end
      @chaos.look_for_hangs
      progress if now > @next_progress
    end

    # @return [Float] how long it took
    def at_rest
      began = now
      @chaos.continue_all
      @book[Book::RESTING] = 1
      wait_for_rest
      yield
      now - began
    ensure
      @book[Book::RESTING] = 0
    end

    def wait_for_rest
      ends = now + REST_SECONDS
      until (awake = @chaos.live_slots.reject { |slot, _| @book[@book.slot(slot) + Book::RESTS] == 1 }).empty?
        return @book.wrong("not all rest within #{REST_SECONDS} s: #{portraits(awake)}") if now > ends

        @supervisor.reap
        sleep(0.05)
      end
    end

    # @return [String] which processes, and what they do
    def portraits(slots)
      slots.map do |slot, pid|
        name, state, parent = File.read("/proc/#{pid}/status").scan(/^(?:Name|State|PPid):\s+(.+)/).flatten
        "slot #{slot}: #{name} #{pid}, #{state}, child of #{parent}"
      rescue SystemCallError
        "slot #{slot}: #{pid}, which ended"
      end.join("; ")
    end

    def pause
      look
      return if @seconds < 60

      filled
      middle = @meter.ask(:measure, long / 4)
      say "aged beside fresh, over the start: #{summary(Drift.new(@first, middle))}"
    end

    # Nobody works meanwhile, so that nothing is in the way of a store: least of all a lock of one that was killed.
    def filled(way = :fill)
      held = @meter.ask(way)
      @book.wrong("#{held[:refused]} stores were refused while nobody worked") if held[:refused].positive?
      held
    end

    def summary(drift)
      drift.lines.map { |line| format("%s %s %+.1f %%", line.operation, line.figure, (line.ratio.middle - 1) * 100) }
           .join(", ")
    end

    def look
      @meter.ask(:collect)
      @leaks.look(@supervisor.lasting.merge(@meter.pid => :meter))
      @findings.failures.concat(@leaks.of_file(hostile: @options[:hostile]) - @findings.failures)
      compare_slots unless @options[:hostile]
    end

    # Process slots taken, and processes that have the cache open: the meter holds no slot of the book.
    def compare_slots
      ends = now + 5
      loop do
        attached = @meter.ask(:stats)[:processes]
        alive = @chaos.live_slots.map(&:last).uniq.size + 1
        @slots = [attached, alive]
        return if attached == alive
        return @book.wrong("#{attached} process slots are taken, by #{alive} processes") if now > ends

        sleep(0.2)
      end
    end

    # The last look, then all end, and the file they leave is measured and verified.
    def finish
      say "all rest for the last look"
      at_rest { look }
      @findings.failures.concat(@leaks.of_processes(hostile: @options[:hostile]))
      say "ends all processes, fills and measures again"
      @supervisor.clear(except: @meter.pid)
      held = filled
      drift = Drift.new(@first, @meter.ask(:measure, long))
      say "empties the file and fills it once more"
      judge_drift(drift)
      judge_room("a file filled after the soak", held)
      judge_room("a file cleared and filled after the soak", filled(:fill_empty))
      verify
      @findings.notes.concat(@leaks.lines)
    end

    def judge_drift(drift)
      return @findings.notes << "times were not judged" unless @options[:judge]

      drift.lines.each do |line|
        @findings.notes << line.to_s
        @findings.failures << "slower than at the start: #{line}" if line.verdict == :fails
      end
    end

    def judge_room(what, held)
      fresh = (held[:fresh] + held[:fresh_again]) / 2.0
      share = (held[:aged] / fresh) / (@held_first[:aged] * 2.0 / (@held_first[:fresh] + @held_first[:fresh_again]))
      @findings.notes << format("%s holds %d bytes, fresh ones %d: %+.1f %%", what, held[:aged], fresh,
                                (share - 1) * 100)
      @findings.failures << "#{what} holds #{held[:aged]} bytes, fresh ones #{fresh.round}" if share < 1 - ROOM
    end

    def verify
      found = @meter.ask(:verify)
      return if found[:problems].zero?

      @findings.failures << "verify at the end: #{found[:problems]} problems, the first: #{found[:first]}"
    end

    def count
      @findings.failures.concat(@leaks.of_file(hostile: @options[:hostile])) if @findings.failures.empty?
      @findings.failures.concat(@book.wrongs.first(20))
      counts.each { |label, number| @findings.counts[label] = number }
      seconds = @worked || 1
      @findings.notes.unshift(format("%.1f minutes, %d calls a second, seed %d%s", seconds / 60,
                                     @book.sum(Book::CALLS) / [seconds, 1].max, @options[:seed],
                                     @told_to_end ? ", ended early" : ""))
    end

    def counts
      { "calls of processes that came and went" => @book.sum(Book::CALLS),
        "values found, each held against the ledger" => @book.sum(Book::FOUND),
        "keys missed" => @book.sum(Book::MISSED),
        "stores refused" => @book.sum(Book::REFUSED),
        "values forgotten that their owner had been told are stored" => @book.sum(Book::LOST),
        "processes killed" => @chaos.counts[:killed],
        "processes stopped for a while" => @chaos.counts[:stopped],
        "processes told to end" => @chaos.counts[:told_to_end],
        "processes started" => @supervisor.started.values.sum,
        "children forked by them" => @book[Book::FORKS],
        "processes that replaced themselves by exec" => @book[Book::EXECS],
        "times that the cache was closed and opened again" => @book[Book::REOPENED],
        "times that the file was verified while all worked" => @book[Book::VERIFIES],
        "times that the cache was cleared" => @book[Book::CLEARS],
        "calls and opens put off by a stopped process" => @book[Book::LOCKED_OUT],
        "times that the file was removed or cut by hand" => @chaos.counts[:removed] + @chaos.counts[:cut] }
        .reject { |label, number| number.zero? && label.include?("by hand") }
        .merge("things that were wrong" => @book[Book::WRONG])
    end

    def progress
      @next_progress = now + PROGRESS_SECONDS
      calls = @book.sum(Book::CALLS)
      elapsed = now - @started
      speed = (calls - (@last_calls || 0)) / (now - (@last_progress || @started))
      @last_calls = calls
      @last_progress = now
      say format("%4d s  %d calls, %d/s  found %d  missed %d  refused %d  killed %d  stopped %d  forked %d  " \
                 "verified %d  wrong %d", elapsed, calls, speed, @book.sum(Book::FOUND), @book.sum(Book::MISSED),
                 @book.sum(Book::REFUSED), @chaos.counts[:killed], @chaos.counts[:stopped], @book[Book::FORKS],
                 @book[Book::VERIFIES], @book[Book::WRONG])
    end

    def wrong?
      @book[Book::WRONG].positive?
    end

    # What failed is kept.
    def clean_up
      return unless @directory
      return say("kept for a look: #{@directory}") unless @findings.passed?

      FileUtils.rm_rf(@options[:directory] ? File.join(@directory, "cache") : @directory)
      FileUtils.rm_f([@book.path, @book.wrong_path]) if @options[:directory]
    end

    def say(text)
      @output.puts "soak: #{text}"
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
