# frozen_string_literal: true

# Skips Rails' notifications if they have no subscriber: a hit sends two, and building their payloads costs more than
# the hit. If there is a subscriber, the log level is debug, or somebody has patched the methods that send events,
# Rails' own code runs. Sends events of Larder's own, too.

require "active_support/notifications"

module Larder
  module Store
    # Overrides Store's private `instrument` and `instrument_multi`.
    module Instrumentation
      # The events of ActiveSupport's cache. An operation that is not here goes Rails' way.
      EVENTS = %i[
        read read_multi write write_multi fetch_hit generate delete delete_multi delete_matched delete_tagged exist?
        increment decrement cas cas_multi cleanup prune clear
      ].to_h { |operation| [operation, "cache_#{operation}.active_support"] }.freeze
      private_constant :EVENTS

      private

      def instrument(operation, _key, _options = nil)
        return super if sends?(operation)

        yield({}) if block_given?
      end

      def instrument_multi(operation, _keys, _options = nil)
        return super if sends?(operation)

        yield({}) if block_given?
      end

      # Sends an event of Larder's own around the block, if it has a subscriber. Its payload is shaped as Rails' are.
      #
      # @param event [String] as "wait.larder"
      # @yieldparam payload [Hash]
      def announce(event, key, options, more = {})
        payload = {}
        return (yield payload if block_given?) unless announces?(event)

        payload.update(options, key: key, store: self.class.name, **more)
        ActiveSupport::Notifications.instrument(event, payload) { yield payload if block_given? }
      end

      # Every call asks: subscribers and patches come and go, and tests replace the notifier.
      def sends?(operation)
        !may_skip_events? || subscribed?(operation)
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
