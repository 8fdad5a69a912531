# frozen_string_literal: true

# How calls of the remote store are made.

require "larder/remote/circuit_breaker"
require "larder/bytes/signal_handler"

module Larder
  module Remote
    # The store must not be asked, because it has not got all changes.
    class Waiting < RemoteError
      # @api private
      def initialize
        super("the remote store has not got all changes of this machine yet")
      end
    end

    # The store has answered that it cannot do what it was asked for.
    class Refused < RemoteError; end

    # Errors of the store's client become {RemoteError}s. The handler of a signal makes no call: clients and pools
    # take locks, and the call that it has interrupted may have the connection. A circuit breaker keeps callers from
    # waiting for a server that hangs.
    # @api private
    class Calls
      # Calls that may take long.
      LONG = %i[clear delete_matched].freeze
      private_constant :LONG

      # @param adapter [Adapters::Any]
      def initialize(adapter)
        @adapter = adapter
        @breaker = CircuitBreaker.new(hung: adapter.hung_after) { |error| unanswered?(error) }
      end

      # @param method [Symbol] for errors
      # @yield makes the call
      # @return [Object] the block's value
      # @raise [RemoteError]
      def attempt(method, &block)
        raise RemoteError, "the handler of a signal cannot ask the remote store to #{method}" if SignalHandler.runs?

        @breaker.call(long: LONG.include?(method), &block)
      rescue CircuitBreaker::OpenError => e
        raise RemoteError, "the remote store could not #{method}: #{e.message}"
      rescue *@adapter.errors => e
        type = @adapter.refused?(e) ? Refused : RemoteError
        raise type, "the remote store could not #{method}: #{e.class}: #{e.message}"
      end

      # Makes no calls for a pause.
      # @return [void]
      def pause
        @breaker.open
      end

      private

      # If one of several servers does not answer, the others are called.
      #
      # @param error [StandardError, nil] nil: the call was interrupted
      def unanswered?(error)
        known = error.nil? || @adapter.errors.any? { |type| error.is_a?(type) }
        known && !(error && @adapter.refused?(error)) && !@adapter.several?
      rescue *@adapter.errors
        true
      end
    end
  end
end
