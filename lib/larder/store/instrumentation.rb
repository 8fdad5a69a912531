# frozen_string_literal: true

# Skips Rails' events if they have no subscriber: building their payloads costs more than a hit. If there is a
# subscriber, the log level is debug, or the methods that send events are patched, Rails' own code runs. Sends Larder's
# own events. The usual events are skipped in C (ext/larder/rails/fast_steps.c), before these methods.

require "active_support/notifications"
require "larder/bytes/signal_handler"

module Larder
  module Store
    # Overrides Rails' private `instrument` and `instrument_multi`.
    module Instrumentation
      # The events of ActiveSupport's cache. An operation that is not here goes Rails' way.
      EVENTS = %i[
        read read_multi write write_multi fetch_hit generate delete delete_multi delete_matched delete_tagged exist?
        increment decrement cas cas_multi cleanup prune clear
      ].to_h { |operation| [operation, "cache_#{operation}.active_support"] }.freeze
      private_constant :EVENTS

      # Sends an event of Larder's own around the block, if it has a subscriber. Its payload is shaped as Rails' are.
      #
      # @api private
      # @param event [String] as "wait.larder"
      # @param call [Call]
      # @yieldparam payload [Hash]
      # @return [Object] what the block returns
      def announce(event, call, more = {})
        payload = {}
        return (yield payload if block_given?) unless announces?(event)

        payload.update(call.options, key: call.key, store: self.class.name, **more)
        ActiveSupport::Notifications.instrument(event, payload) { yield payload if block_given? }
      end

      private

      def instrument(operation, _key, _options = nil)
        return super if sends?(operation)

        yield({}) if block_given?
      end

      def instrument_multi(operation, _keys, _options = nil)
        return super if sends?(operation)

        yield({}) if block_given?
      end

      # Each call asks: subscribers and patches come and go, and tests replace the notifier. The handler of a signal
      # sends nothing while it is unknown whether Rails' methods are patched.
      def sends?(operation)
        may_skip_events? ? subscribed?(operation) : !SignalHandler.runs?
      end

      def subscribed?(operation)
        event = EVENTS[operation]
        return true if event.nil? || ActiveSupport::Notifications.notifier.listening?(event)

        log = logger
        log && log.debug? && !silence?
      rescue ThreadError # the handler of a signal cannot take the lock that the first event of a name needs
        false
      end

      def announces?(event)
        ActiveSupport::Notifications.notifier.listening?(event)
      rescue ThreadError # as in subscribed?
        false
      end
    end
  end
end
