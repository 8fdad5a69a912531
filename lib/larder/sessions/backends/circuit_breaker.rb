# frozen_string_literal: true

# Decides when a store behind a file may be called: not while it fails, or is slow.

require_relative "../errors"

module Larder
  module Sessions
    module Backends
      # After a failure or a slow answer no call is made for some seconds; then one is let through, and it decides. One
      # outage is reported once. Each process has its own.
      #
      # No call is interrupted, for what it leaves behind is unknown: how long one takes is up to the client's timeouts.
      # Where a client waits for ever, so do the calls of the first second and one more: no others are made meanwhile.
      class CircuitBreaker
        # Raised in place of a call, or after one that failed.
        class OpenError < StandardError; end

        # Seconds after which an answer is slow, of one call and of all that a request has made.
        SLOW = 1.0
        # Seconds for which no call is made.
        PAUSE = 5.0
        # What a request has spent waiting, in its env.
        SPENT = "larder.session.behind_seconds"
        private_constant :SPENT

        # @param name [String] of the store, for messages
        # @param report [#call] told of the error that an outage begins with
        # @param request [#call] answers the env of the request that is at work, or nil
        # @param clock [#call] seconds that only go forward
        def initialize(name, report:, request: -> {}, clock: -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) })
          @name = name
          @report = report
          @request = request
          @clock = clock
          @mutex = Mutex.new
          reset
        end

        # @yield calls the store
        # @return [Object] the block's
        # @raise [OpenError] it was not called, or it failed
        def call
          started = enter
          begin
            yield
          rescue StandardError => error
            raise OpenError, "#{@name}: #{error.message}"
          ensure
            leave(started, error)
          end
        end

        private

        # As in a process that has made no call: threads that were waiting are not in a fork.
        def reset
          @pid = Process.pid
          @calls = {}.compare_by_identity
          @open_until = @trial = nil
        end

        # @return [Array(Float)] the call, by identity
        def enter
          now = @clock.call
          call = [now].freeze
          hung = @mutex.synchronize do
            reset unless @pid == Process.pid
            raise OpenError, "#{@name} is not called until it answers again" if closed_to?(now)

            hung = @open_until.nil? && @calls.each_value.map { |started| now - started }.max.to_f > SLOW
            @trial = call if @open_until
            hung ? trip(now) : @calls[call] = now
            hung
          end
          return call unless hung

          @report.call(SlowStoreError.new(@name, SLOW))
          raise OpenError, "#{@name} has not answered for more than #{SLOW} s"
        end

        def closed_to?(now)
          @open_until && (now < @open_until || @trial)
        end

        def trip(now)
          @open_until = now + PAUSE
          @trial = nil
        end

        def leave(call, error)
          now = @clock.call
          took = spent(now - call.first)
          error ||= SlowStoreError.new(@name, took) if took > SLOW
          begins = @mutex.synchronize do
            next false unless @calls.delete(call)

            begins = error && @open_until.nil?
            settle(call, error, now)
            begins
          end
          @report.call(error) if begins
        end

        def settle(call, error, now)
          if error then trip(now)
          elsif @trial.equal?(call) then @open_until = @trial = nil
          end
        end

        # What this call took, and the request's others.
        def spent(took)
          env = @request.call
          env ? env[SPENT] = env.fetch(SPENT, 0.0) + took : took
        end
      end
    end
  end
end
