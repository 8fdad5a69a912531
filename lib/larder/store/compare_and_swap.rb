# frozen_string_literal: true

# `cas` and `cas_multi`, as IdentityCache calls them: a new value is stored only over the one that it was made from.

module Larder
  module Store
    # In the file this is the engine's compare-and-swap by the identity of the entry. With `remote:` it is the remote
    # store's own `cas`, where that has one.
    module CompareAndSwap
      # The methods that a store with `remote:` has only if its remote store has them.
      METHODS = %i[cas cas_multi].freeze
      private_constant :METHODS

      # Yields the value of an entry, and stores what the block returns, unless another caller has changed, deleted or
      # touched the entry in between. A block that raises, or is left by `break`, `return` or `throw`, changes nothing.
      # An entry that was deleted or overwritten, and stored again with the same value, has changed. In a full cache
      # an entry may also be moved while the block runs: then the answer is false, and the old value stays.
      #
      # The new entry has the options of the call, as with `write`. Without `tags:` it has the tags of the old one.
      #
      # @param name [Object] a key, as for read
      # @param options [Hash, nil] as for write
      # @yieldparam value [Object]
      # @yieldreturn [Object] the new value, also nil
      # @return [Boolean, nil] true: stored; false: the entry has changed, or the cache could not serve; nil: a miss,
      #   and the block was not called
      # @raise [NotImplementedError] with `remote:`, if that store has no `cas`
      # @example
      #   cache.write("list", [1])
      #   cache.cas("list") { |list| list + [2] } #=> true
      def cas(name, options = nil, &block)
        check_swap(:cas, block)
        call = call_of(name, *with_jitter([options]))
        instrument(:cas, call.shown, call.options) do
          in_stamped_flight(call) { level.swap(call, &block) }
        end
      end

      # As cas, for several entries. Each is stored or not by itself.
      #
      # @param names [Array<Object>] keys, as for read_multi
      # @param options [Hash] as for write
      # @yieldparam values [Hash{Object => Object}] by name, of the entries that were found
      # @yieldreturn [Hash{Object => Object}] new values by name; those of entries that were not found are not stored
      # @return [Boolean, nil, Object] true: all were stored; false: at least one was not, or the cache could not serve;
      #   nil: no names. With `remote:` the answer of that store
      # @raise [ArgumentError] the block returns something else, or a name that it was not given
      # @raise [NotImplementedError] as cas
      # @example
      #   cache.write_multi({ "a" => 1, "b" => 2 })
      #   cache.cas_multi("a", "b") { |values| values.transform_values { |value| value + 1 } } #=> true
      def cas_multi(*names, **options)
        check_swap(:cas_multi, block_given?)
        return if names.empty?

        options = merged_options(options)
        calls = names.uniq.to_h { |name| [name, calls_of([name], *with_jitter([options])).first] }
        instrument_multi(:cas_multi, instrumented_keys(names, options), options) do
          within_stamp(options, options) do
            level.swap_many(calls.values) do |values|
              updates_of(yield(values.transform_keys(&:name)), calls).transform_keys(calls)
            end
          end
        end
      end

      # Ruby's, and false for `cas` and `cas_multi` if the remote store has none, as callers ask before they use them.
      def respond_to?(name, *)
        super && !(METHODS.include?(name.to_sym) && !level.swaps?)
      end

      private

      def check_swap(method, block)
        raise ::ArgumentError, "#{method} of LarderStore takes a block, which gets what is stored" unless block
        return if level.swaps?

        raise ::NotImplementedError, "#{method} of LarderStore with remote: is that of the remote store, and " \
                                     "#{@remote.store.class} has none; use a store that has one, or read and write"
      end

      def in_stamped_flight(call, &block)
        return yield unless call.options[:tags] || (call.options[:namespace] && call.leases?)

        call.texts # raises for what is not a tag
        Flights.within(Flight.new(level.records, call.key, stamp: level.stamp(call)), &block)
      end

      def updates_of(given, calls)
        unknown = given.is_a?(Hash) ? given.keys - calls.keys : []
        return given if given.is_a?(Hash) && unknown.empty?

        raise ::ArgumentError, "the block of cas_multi of LarderStore returned " \
                               "#{unknown.empty? ? given.inspect : "a value for #{unknown.first.inspect}"}; it " \
                               "returns a Hash of new values by the names that it was given"
      end
    end
  end
end
