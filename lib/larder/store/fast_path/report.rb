# frozen_string_literal: true

# Reports whether the fast path of a store is on, and if not, why. C answers the first as it does for each call; the
# reasons are found by the parts of that condition.

module Larder
  module Store
    module FastPath
      # Extends FastPath.
      module Report
        # @param store [ActiveSupport::Cache::LarderStore]
        # @return [Hash] `:on`, whether every simple call is answered in C; and `:reasons`, why not, in words
        # @raise [TypeError] for any other object
        # @example
        #   Larder::Store::FastPath.report(Rails.cache) #=> { on: true, reasons: [] }
        def report(store)
          raise TypeError, "store must be an #{@store_class}, got #{store.class}" unless store.is_a?(@store_class)

          changed # so that a patch of the last second is in the report
          on = _passes?(store)
          { on: on, reasons: on ? [] : reasons(store) }
        end

        private

        # Without any other reason it is the file: the ordinary path opens it.
        def reasons(store)
          reasons_of_store(store).then { |found| found.empty? ? ["its file is not open"] : found }
        end

        def reasons_of_store(store)
          [class_reason(store), object_reason(store), options_reason(store),
           *(log_reason if _log_wanted?(store)), *subscriber_reasons].compact
        end

        def class_reason(store)
          return if enabled?(store.class)
          return "Larder::Store::FastPath.without is running" if @off.positive?

          objection || objection_to(store.class, STORE_METHODS) ||
            "there are more classes of stores than it can tell apart"
        end

        # The class that C sees is the object's own, where it has one.
        def object_reason(store)
          return unless _singleton_class?(store)

          own = store.singleton_class.ancestors.take_while { |owner| owner != store.class } - [store.singleton_class]
          own = [*own.map(&:inspect), *store.singleton_methods(false)].join(", ")
          "this store object was extended or stubbed#{": #{own}" unless own.empty?}"
        end

        def options_reason(store)
          "the store's options are no plain Hash" if store.instance_variable_get(:@fast).nil?
        end

        def log_reason
          "the log takes debug messages, and Rails writes one for each operation: set config.log_level to :info"
        end

        # One line for each subscriber, on a Rails whose payloads C does not know.
        def subscriber_reasons
          return [] if Keys::INSTRUMENTS_KEYS

          subscribed = EVENTS.keys.flat_map { |name| subscribers_of(name).map { |one| [subscriber_name(one), name] } }
          subscribed.group_by(&:first).map do |subscriber, pairs|
            "#{subscriber} listens to #{pairs.map(&:last).uniq.join(", ")}"
          end
        end

        # Rails wraps subscribers.
        def subscriber_name(subscriber)
          who = subscriber.instance_variable_get(:@delegate) || subscriber
          return who.class.name || who.class.inspect unless who.respond_to?(:source_location)

          "#{who.is_a?(Proc) ? "a block" : "a method"} at #{who.source_location&.join(":") || "an unknown place"}"
        end
      end
    end
  end
end
