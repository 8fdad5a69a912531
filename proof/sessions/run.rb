# frozen_string_literal: true

# A run of the proof: eight workers and a filler on one file, kills, and the comparison of counts when all have stopped.

require "fileutils"
require "tmpdir"
require_relative "filler"
require_relative "fault_injection"

module SessionProof
  # Starts and kills processes, moves the clock, and counts.
  class Run
    WORKERS = 8
    FILLER = WORKERS
    HOUSEHOLDS = 48
    # Operations between two kills from outside. As many processes kill themselves in the midst of an operation.
    KILLS = 1000
    # Operations for which the file is full, and twice as many for which it is not.
    FULL_FOR = 1500
    # Operations in a second of the proof's clock, which is never slower than the world's.
    PACE = 10
    POLL_SECONDS = 0.002
    # The part of the operations that is played at the end, with no kill and no overlap, for the counts of sessions.
    CALM = 0.05

    # @param operations [Integer]
    # @param seed [Integer]
    # @param fault [String, nil] a name of {FaultInjection}
    def initialize(operations:, seed:, fault: nil)
      @operations = operations
      @seed = seed
      @fault = fault
      @random = Random.new(seed)
      @workers = {}
      @started = @killed = @died = 0
    end

    # @return [Hash{String => Integer}] what was counted
    # @raise [Difference]
    def run
      Dir.mktmpdir("larder-sessions") do |directory|
        @place = Place.new(directory, HOUSEHOLDS)
        @board = Board.new(@place.board)
        @began = [Process.clock_gettime(Process::CLOCK_REALTIME, :second), now]
        tick(0)
        play
      ensure
        stop_all
      end
    end

    private

    def play
      phase(@operations * (1 - CALM), hostile: true)
      subject = Subject.new(@place.sessions)
      subject.now = @board[:clock]
      compare(subject, "counted anew after the kills") { subject.recount }
      phase(@operations, hostile: false)
      compare(subject, "kept while nobody was killed")
      problems = subject.cache.verify
      raise Difference, "verify: #{problems}" if problems[:problems].positive?

      counted
    end

    def phase(until_operations, hostile:)
      @board[:stop] = 0
      @board[:kill] = hostile ? 1 : 0
      WORKERS.times { |number| start(number) }
      start(FILLER) if hostile
      lead(until_operations, hostile)
      @board[:fill] = 0
      @board[:stop] = 1
      (sleep POLL_SECONDS) && reap until @workers.empty?
    end

    def lead(until_operations, hostile)
      done = operations
      @turned = done - FULL_FOR
      @filling = 0
      next_kill = done + interval
      while done < until_operations
        sleep POLL_SECONDS
        reap
        done = operations
        tick(done)
        next unless hostile

        turn(done)
        next if done < next_kill

        kill
        next_kill = done + interval
      end
    end

    def start(number)
      @started += 1
      seed = @seed + (@started * 1000)
      pid = fork do
        FaultInjection.apply(@fault) if @fault
        (number == FILLER ? Filler.new(@place, number) : Worker.new(@place, number, seed)).work
      end
      @workers[pid] = number
    end

    def kill
      pid = @workers.reject { |_, number| number == FILLER }.keys.sample(random: @random)
      Process.kill(:KILL, pid)
      @killed += 1
    end

    # Operations to the next kill: on average as many as said, in no rhythm.
    def interval
      (-Math.log(1 - @random.rand) * KILLS).ceil
    end

    def reap
      while (pid = Process.wait(-1, Process::WNOHANG))
        status = Process.last_status
        number = @workers.delete(pid)
        if status.termsig == Signal.list["KILL"]
          @died += 1
          start(number) if @board[:stop].zero?
        elsif !status.success?
          raise Difference, told(number) || "process #{number} ended by itself: #{status}"
        end
      end
    rescue Errno::ECHILD
      raise Difference, "processes are gone that nobody waited for" if @workers.any?
    end

    def told(number)
      File.read(@place.difference(number))
    rescue Errno::ENOENT
      nil
    end

    def stop_all
      @workers.each_key do |pid|
        Process.kill(:KILL, pid)
        Process.wait(pid)
      end
    end

    def tick(done)
      @board[:clock] = @began.first + [done / PACE, (now - @began.last).to_i].max
    end

    # Full for a third of the operations: while it is being filled or emptied it counts as not full.
    def turn(done)
      if @board[:fill].zero?
        return if done < @turned + (2 * FULL_FOR) - @filling

        @board[:fill] = 1
        @turned = done
      elsif @board[:full].zero?
        @filling = [done - @turned, 2 * FULL_FOR].min
      elsif done >= @turned + @filling + FULL_FOR
        @board[:fill] = 0
        @turned = done
      end
    end

    def operations
      (0..FILLER).sum { |number| @board.counts(number)[:operations] }
    end

    # Each session that there ever was, and how many there are, against the model.
    def compare(subject, how)
      driver = Driver.new(subject, @board, @random)
      signed_in = anonymous = 0
      HOUSEHOLDS.times do |number|
        household = Row.new(@place.row(number)).try { |row| driver.look_at_all(row, number) }
        signed_in += household.sessions.count { |_, session| session.user }
        anonymous += household.sessions.count { |_, session| session.user.nil? }
      end
      @looked = driver.counts[:comparisons]
      subject.now = @board[:clock]
      yield if block_given?
      compare_counts(subject, how, signed_in, anonymous)
      size = subject.size
      return if size.between?(signed_in, signed_in + anonymous)

      raise Difference, "#{size} sessions are in the file, of #{signed_in} signed in and #{anonymous} others"
    end

    # Of those who are not signed in some may have been evicted since they were counted.
    def compare_counts(subject, how, signed_in, anonymous)
      counts = subject.counts
      return if counts.first == signed_in && counts.last >= anonymous

      raise Difference, "#{how} are #{counts.join(" and ")} sessions, of #{signed_in} signed in and #{anonymous} others"
    end

    def counted
      counts = Board::COUNTS.to_h { |name| [name, (0...WORKERS).sum { |number| @board.counts(number)[name] }] }
      { "operations on sessions, each compared with a naive model" => counts[:operations],
        "operations while the file was full of signed-in sessions" => counts[:while_full],
        "stores refused because the file was full" => counts[:refusals],
        "times that two to four requests overlapped" => counts[:overlaps],
        "processes killed, of them from outside #{@killed}" => @died,
        "operations found half done, and judged" => counts[:recoveries],
        "looks at a session" => counts[:comparisons] + @looked }
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
