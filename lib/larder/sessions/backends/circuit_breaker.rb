# frozen_string_literal: true

# Decides when a store behind a file may be called: not while it fails or is slow.

require_relative "../errors"

module Larder
  module Sessions
    module Backends
      # After an error or a slow answer it is open: no call is made for {PAUSE} seconds. Then one call is let through as
      # a trial, which closes it or opens it again. An outage is reported once. Each process has its own breaker.
      #
      # No call is interrupted, because that could leave the client in any state: the client's timeouts limit a call. If
      # it has none, the calls of the first second and one trial wait as long as it does, and no others are made.
      class CircuitBreaker
        # No call was made, or it failed.
        class OpenError < StandardError; end

        # Seconds after which an answer is slow; all calls of a request count together.
        SLOW = 1.0
        # Seconds for which no call is made after that.
        PAUSE = 5.0
        # Where a request's env has the seconds that it has waited.
        SPENT = "larder.session.behind_seconds"
        private_constant :SPENT

        # @param name [String] of the store, for messages
        # @param report [#call] told of the first error of an outage
        # @param request [#call] answers the env of the current request, or nil
        # @param clock [#call] monotonic seconds
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
        # @raise [OpenError] no call was made, or it failed
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

        # Closed, without calls: a forked child has no threads of its parent.
        def reset
          @pid = Process.pid
          @calls = {}.compare_by_identity
          @open_until = @trial = nil
        end

        # @return [Array(Float)] the call: when it started
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

        # Seconds of this call, and of the request's others.
        def spent(took)
          env = @request.call
          env ? env[SPENT] = env.fetch(SPENT, 0.0) + took : took
        end
      end
    end
  end
end
