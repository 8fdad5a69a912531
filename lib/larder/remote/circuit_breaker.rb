# frozen_string_literal: true

# Stops calls of a server that does not answer, so that not every caller waits for its client's timeout.

require "larder/bytes/interrupts"

module Larder
  module Remote
    # Calls that fail late are counted. After some of them the breaker is open: no call is made for a pause. Then one
    # call is the trial, which closes it or opens it again. A call that has not ended for long opens it, too, also if it
    # is the trial: where the client has no timeout, it may never end.
    #
    # A call that fails at once is not counted, as it costs its caller nothing. The breaker interrupts no call. One that
    # is interrupted late, as by Timeout, counts as a failure. Each process has its own breaker.
    #
    # While it is closed, a call that succeeds takes no lock: it adds itself to the calls, and removes itself, by single
    # methods of Hash, which other threads do not interrupt.
    # @api private
    class CircuitBreaker
      # No call was made.
      class OpenError < StandardError; end

      # Seconds after which a trial is over that has not ended, where the client has a timeout.
      LONGEST_TRIAL = 60
      private_constant :LONGEST_TRIAL

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

      # @return [Boolean] does it refuse calls at this moment?
      def open?
        ends = @open_until
        @pid == Process.pid && !ends.nil? && @clock.call < ends
      end

      # @param long [Boolean] may the call take any time?
      # @yield makes the call
      # @return [Object] the block's value
      # @raise [OpenError]
      def call(long: false)
        caller = Fiber.current
        return yield if @calls.key?(caller) # within another call

        started = @clock.call
        answered = false
        begin
          watch(started, caller) if @open_until || @hung || @pid != Process.pid
          @calls[caller] = long ? Float::INFINITY : started
          answer = yield
          answered = true
          answer
        rescue StandardError => error
          raise
        ensure
          @calls.delete(caller)
          leave(caller, started, answered, error) unless answered && @trial.nil?
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

      # Before a call, where it is not just closed. The handler of a signal cannot lock, and makes its call.
      def watch(now, caller)
        @mutex.synchronize do
          reset unless @pid == Process.pid
          trip(now) if @open_until ? trial_over?(now) : hung?(now)
          next unless @open_until

          refuse if now < @open_until || @trial
          @tried_at = now
          @trial = caller
        end
      rescue ThreadError
        nil
      end

      def refuse
        raise OpenError, "it did not answer, and is not called for #{@pause} s"
      end

      # Calls that hang open it once. Others add theirs without the lock.
      def hung?(now)
        return false unless @hung

        hung = @calls.to_a.filter_map { |caller, started| caller if now - started > @hung }
        hung.each { |caller| @calls.delete(caller) }
        hung.any?
      end

      # A trial that hangs opens it once, too.
      def trial_over?(now)
        return false unless @trial && now - @tried_at > (@hung || LONGEST_TRIAL)

        @calls.delete(@trial)
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
      ensure
        Thread.handle_interrupt(Interrupts::DEFERRED) { settle(caller, now, failed, answered || error) }
      end

      def settle(caller, now, failed, ended)
        @mutex.synchronize do
          if failed then count(now, @trial.equal?(caller))
          elsif @trial.equal?(caller)
            @trial = nil # if it was interrupted, another call is the trial
            @open_until = nil if ended
          end
        end
      rescue ThreadError
        nil # as of watch
      end

      def count(now, trial)
        @late_at = @late_at.select { |at| now - at < @within } << now
        trip(now) if trial || @late_at.size >= @failures
      end
    end
  end
end
