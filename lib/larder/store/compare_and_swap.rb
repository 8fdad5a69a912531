# frozen_string_literal: true

# `cas` and `cas_multi`, as IdentityCache calls them: a new value is stored only over the one that it was made from.

module Larder
  module Store
    # In the file this is the engine's compare-and-swap by the identity of the entry. With `remote:` it is the remote
    # store's own `cas`, where that has one.
    module CompareAndSwap
      # The methods that a store with `remote:` has only if its remote store has them.
      METHODS = %i[cas cas_multi].freeze
      # Thrown out of the remote store's `cas`: the entry is a miss.
      MISS = :larder_cas_miss
      private_constant :METHODS, :MISS

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
        options = merged_options(with_jitter(options))
        key = normalize_key(name, options)
        instrument(:cas, instrumented_key(name, key), options) do
          stamping(name, options, key) do
            @remote ? cas_far(key, options, &block) : cas_here(name, key, options, &block)
          end
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
      def cas_multi(*names, **options, &block)
        check_swap(:cas_multi, block)
        return if names.empty?

        options = merged_options(with_jitter(options))
        keys = keys_of(names, options)
        instrument_multi(:cas_multi, instrumented_keys(names, options), options) do
          within_stamp(options) { @remote ? cas_many_far(keys, options, &block) : cas_many_here(keys, options, &block) }
        end
      end

      # Ruby's, and false for `cas` and `cas_multi` if the remote store has none, as callers ask before they use them.
      def respond_to?(name, *)
        super && !(@remote && METHODS.include?(name.to_sym) && !@remote.swaps?)
      end

      private

      def check_swap(method, block)
        raise ::ArgumentError, "#{method} of LarderStore takes a block, which gets what is stored" unless block
        return if @remote.nil? || @remote.swaps?

        raise ::NotImplementedError, "#{method} of LarderStore with remote: is that of the remote store, and " \
                                     "#{@remote.store.class} has none; use a store that has one, or read and write"
      end

      # Values for several names are computed from here on.
      def within_stamp(options, &block)
        options[:tags] ? Stamps.within(@records, nil, stamp(options), &block) : yield
      end

      # @return [Boolean, nil] as cas
      def cas_here(name, key, options)
        record = failsafe(:cas, returning: false) { @records.get(key, now_ms) }
        return record unless record

        found = record_value(record, normalize_version(name, options)) or return
        swap_record(name, key, record, yield(found.first), options) || false
      end

      # @return [Boolean] as cas_multi
      def cas_many_here(keys, options)
        records = failsafe(:cas_multi) { keys.transform_values { |key| @records.get(key, now_ms) } } || (return false)
        values = {}
        records.each do |name, record|
          found = record && record_value(record, normalize_version(name, options))
          values[name] = found.first if found
        end
        known = values.keys
        updates_of(yield(values), keys).map do |name, value|
          known.include?(name) && swap_record(name, keys[name], records[name], value, options)
        end.all?
      end

      # @return [Array(Object), nil] the value of a record; nil: a miss
      def record_value(record, version)
        entry = present_entry(record, version)
        [entry.value] if entry
      rescue ActiveSupport::Cache::DeserializationError
        nil
      end

      # @return [Boolean, nil] nil: the cache could not serve
      def swap_record(name, key, record, value, options)
        store_safely(:cas) do
          entry = ActiveSupport::Cache::Entry.new(value, **options, version: normalize_version(name, options))
          bytes, flags, ttl_ms, *more = record_of(entry, options)
          ttl_ms = Larder::Options::SHORTEST_MS if ttl_ms.negative? # which has expired already
          replacement = [bytes, flags, ttl_ms, *more]
          replacement = with_tags(replacement, key, options) if options[:tags]
          @records.cas(key, record, replacement, now_ms)
        end
      end

      def updates_of(given, keys)
        unknown = given.is_a?(Hash) ? given.keys - keys.keys : []
        return given if given.is_a?(Hash) && unknown.empty?

        raise ::ArgumentError, "the block of cas_multi of LarderStore returned " \
                               "#{unknown.empty? ? given.inspect : "a value for #{unknown.first.inspect}"}; it " \
                               "returns a Hash of new values by the names that it was given"
      end

      # ---- in the remote store ----

      def cas_far(key, options, &block)
        answer = swapping([key], :cas) do |guard|
          catch(MISS) do
            @remote.cas(key, options) do |stored|
              opened = opened_far({ key => stored })
              throw MISS unless opened.key?(key)

              closed_far(stored, guard.call { block.call(opened[key]) }, key, options)
            end
          end
        end
        answer ? true : answer
      end

      def cas_many_far(keys, options)
        swapping(keys.values.uniq, :cas_multi) do |guard|
          @remote.cas_multi(keys.values.uniq, options) do |stored|
            opened = opened_far(stored)
            values = keys.select { |_, key| opened.key?(key) }.transform_values { |key| opened[key] }
            known = values.keys
            updates = guard.call { updates_of(yield(values), keys) }
            updates.slice(*known).to_h do |name, value|
              [keys[name], closed_far(stored[keys[name]], value, keys[name], options)]
            end
          end
        end
      end

      # Yields a guard for the caller's block, whose errors are its own. A value that may have been stored has no copy.
      def swapping(keys, method)
        inside = swapped = false
        guard = lambda do |&work|
          inside = true
          work.call.tap do
            inside = false
            swapped = true
          end
        end
        begin
          ready? ? yield(guard) : false
        rescue *Failsafe::ERRORS => e
          raise if inside

          failed(method, false, e)
        end
      ensure
        if swapped
          drop_copies(keys)
          tell(:keys, keys)
        end
      end

      # @param stored [Hash{String=>Object}] as the remote store has them
      # @return [Hash{String=>Object}] values of those that no tag has deleted
      def opened_far(stored)
        entries = stored.transform_values { |value| ActiveSupport::Cache::Entry.new(value) }
        open_entries(entries)
        entries.transform_values(&:value)
      end

      # @return [Object] a new value as the remote store has it, with the tags of the old one or of the call
      def closed_far(stored, value, key, options)
        entry = ActiveSupport::Cache::Entry.new(value)
        return with_versions(entry, options, stamp_of_write(key, options)).value if options[:tags] || !marked?(stored)

        [*stored.first(2), value]
      end
    end
  end
end
