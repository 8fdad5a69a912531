# frozen_string_literal: true

# Calls a store of sessions for a request: for about a second in all, and without taking a failure for an answer.

require_relative "../errors"

module Larder
  module Sessions
    module Backends
      # A call that fails raises {UnavailableError}, so that an entry that the store could not look up is not taken for
      # one that is missing. The slow calls of a request wait {LIMIT} seconds together. After that the request makes no
      # more calls, and the store counts as one that does not answer. No call is interrupted, because that could leave
      # the client in any state: the client's timeouts limit one call. An outage is reported once.
      class Calls
        # Seconds that the calls of one request may wait together.
        LIMIT = 1.0
        # Seconds from which on a call is slow. The quick calls of a store that is far away do not count.
        SLOW = 0.1
        # Where a request's env has the seconds that it has waited.
        WAITED = "larder.session.waited_seconds"
        private_constant :SLOW, :WAITED

        # @param name [String] of the store, for messages
        # @param report [#call] called with the first error of an outage
        # @param request [#call] returns the env of the current request, or nil
        # @param give_up [#call] called when a request has waited for {LIMIT}
        # @param clock [#call] monotonic seconds
        def initialize(name, report: ->(_error) {}, request: -> {}, give_up: -> {},
                       clock: -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) })
          @name = name
          @report = report
          @request = request
          @give_up = give_up
          @clock = clock
          @down = false
        end

        # @param at_once [Boolean] follows another call at once: if that call took the rest of {LIMIT}, the store is not
        #   called, and the block can only find what this machine has
        # @yield calls the store
        # @return [Object] the block's value
        # @raise [UnavailableError] no call was made, or it failed
        def call(at_once: false, &block)
          env = @request.call
          failed("it took more than #{LIMIT} s to answer this request") if over?(env) && !at_once
          answer = timed(env, &block)
          @down = false
          answer
        rescue UnavailableError
          raise
        rescue StandardError => error
          failed(error.message)
        end

        # Waits for another request until the block answers true, for {LIMIT} seconds together with slow calls.
        #
        # @param pauses [Range<Float>] seconds between two attempts
        # @return [void]
        # @raise [UnavailableError]
        def wait_until(pauses)
          env = @request.call || {}
          started = @clock.call
          until yield
            failed("another request has changed the session for #{LIMIT} s") if over?(env, @clock.call - started)
            sleep(rand(pauses))
          end
        ensure
          took = @clock.call - started
          env[WAITED] = env.fetch(WAITED, 0.0) + took if took >= SLOW
        end

        private

        def over?(env, more = 0.0)
          !env.nil? && env.fetch(WAITED, 0.0) + more >= LIMIT
        end

        def timed(env)
          started = @clock.call
          yield
        ensure
          took = @clock.call - started
          env[WAITED] = env.fetch(WAITED, 0.0) + took if env && took >= SLOW
          @give_up.call if took >= SLOW && over?(env)
        end

        def failed(reason)
          raise UnavailableError.new(@name, reason)
        rescue UnavailableError => error
          @report.call(error) unless @down
          @down = true
          raise
        end
      end
    end
  end
end
