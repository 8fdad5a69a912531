# frozen_string_literal: true

# Stops calls of a server that does not answer, so that not every caller waits for its client's timeout.

module Larder
  # Calls that fail late are counted. After some of them the breaker is open: no call is made for a pause. Then one call
  # is the trial, which closes it or opens it again. A call that has not ended for long opens it, too: where the client
  # has no timeout, it may never end.
  #
  # A call that fails at once is not counted, as it costs its caller nothing. The breaker interrupts no call. One that
  # is interrupted late, as by Timeout, counts as a failure. Each process has its own breaker.
  # @api private
  class CircuitBreaker
    # No call was made.
    class OpenError < StandardError; end

    # @param failures [Integer] after which it opens
    # @param within [Numeric] seconds in which they are counted
    # @param late [Numeric] seconds that a call has taken if its failure counts
    # @param pause [Numeric] seconds without a call
    # @param hung [Numeric, nil] seconds after which a call without an answer opens it; nil: the client has a timeout
    # @param clock [#call] monotonic seconds
    # @param failure [#call] answers whether an error means that the server has not answered; nil: the call was
    #   interrupted
    def initialize(failures: 3, within: 10, late: 0.1, pause: 2, hung: nil,
                   clock: -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }, &failure)
      @failures, @within, @late, @pause, @hung = failures, within, late, pause, hung
      @clock = clock
      @failure = failure
      @mutex = Mutex.new
      reset
    end

    # Makes no calls for a pause: several calls have taken a caller longer than it can wait.
    # @return [void]
    def open
      @mutex.synchronize { trip(@clock.call) }
    end

    # @param long [Boolean] may the call take any time?
    # @yield makes the call
    # @return [Object] the block's value
    # @raise [OpenError]
    def call(long: false)
      caller = Fiber.current
      return yield if @calls.key?(caller) # within another call

      started = enter(caller, long) or return yield
      answered = false
      begin
        yield.tap { answered = true }
      rescue StandardError => error
        raise
      ensure
        leave(caller, started, answered, error)
      end
    end

    private

    # A forked child has no threads of its parent.
    def reset
      @pid = Process.pid
      @calls = {}.compare_by_identity
      @late_at = []
      @open_until = @trial = nil
    end

    # @return [Float, nil] now; nil: the handler of a signal cannot lock
    def enter(caller, long)
      now = @clock.call
      @mutex.synchronize do
        reset unless @pid == Process.pid
        trip(now) if @open_until.nil? && hung?(now)
        refuse if @open_until && (now < @open_until || @trial)
        @trial = caller if @open_until
        @calls[caller] = long ? Float::INFINITY : now
      end
      now
    rescue ThreadError
      nil
    end

    def refuse
      raise OpenError, "it did not answer, and is not called for #{@pause} s"
    end

    # Calls that hang open it once.
    def hung?(now)
      return false unless @hung && @calls.any? { |_, started| now - started > @hung }

      @calls.delete_if { |_, started| now - started > @hung }
      true
    end

    def trip(now)
      @open_until = now + @pause
      @trial = nil
      @late_at.clear
    end

    def leave(caller, started, answered, error)
      now = @clock.call
      failed = !answered && now - started >= @late && @failure.call(error)
      @mutex.synchronize do
        @calls.delete(caller)
        if failed then count(now, @trial.equal?(caller))
        elsif @trial.equal?(caller)
          @trial = nil # if it was interrupted, another call is the trial
          @open_until = nil if answered || error
        end
      end
    end

    def count(now, trial)
      @late_at = @late_at.select { |at| now - at < @within } << now
      trip(now) if trial || @late_at.size >= @failures
    end
  end
end
