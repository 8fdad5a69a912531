# frozen_string_literal: true

# The calls about one entry: fetch, read, write, exist?, and the methods under delete.

require "larder/store/call"
require "larder/store/computation"
require "larder/store/soft_computation"
require "larder/store/write_options"

module Larder
  module Store
    # Rails' methods of the same names, for a level that can do more: they begin one {Call} each. Under them are Rails'
    # own hooks `read_entry`, `write_entry` and `delete_entry`, which a subclass may override.
    module Entries
      DeserializationError = ActiveSupport::Cache::DeserializationError
      private_constant :DeserializationError

      # As Rails'. docs/reference/options.md has the options that it takes in addition.
      #
      # @overload fetch(name, options = nil, &block)
      ruby2_keywords def fetch(name, *given, &block)
        options = given.first
        ours = block && given.size < 2 && (unpatched? || keeps?(options))
        return super(name, *versioned(name, given), &block) unless ours

        call = call_of(name, options)
        return SoftComputation.new(self, call, block).fetch if call.soft? && level.slow?

        entry = reading(call) { call.keeps? ? kept_entry(call) : fresh_entry(call) } unless call.options[:force]
        entry ? serve(entry, call, block) : compute(call, block)
      end

      # As Rails'. Options of the call, as the `cache` of a view gives them: with `single_flight: true` a miss waits for
      # another caller that computes the value, or takes the lease for the write that follows. With
      # `stale_while_revalidate:` an entry that is stale is found, but for one caller, which has the lease.
      #
      # @overload read(name, options = nil)
      ruby2_keywords def read(name, *given)
        options = given.first
        stale = options.is_a?(Hash) && options.key?(:stale_while_revalidate) && Call.keeps?(options)
        call = call_of(name, options) if given.size < 2 && (stale || unpatched?)
        value = if call then stale ? read_kept(call) : read_fresh(call)
                else super(name, *versioned(name, given))
                end
        return value unless value.nil? && (options.is_a?(Hash) || @options[:tags])

        announce_write(call || call_of(name, options), options || {}, stale)
      end

      # As Rails'. Gives up the leases of earlier reads of the key if this is not the write that they announced.
      #
      # @overload write(name, value, options = nil)
      ruby2_keywords def write(name, value, *given)
        given = with_jitter(given)
        options = given.first
        give_up_reads(name, options) if Flights.begun&.announced? && leases?(options)
        return super unless given.size < 2 && unpatched?

        call = call_of(name, options)
        instrument(:write, call.shown, call.options) do
          store_entry(call, ActiveSupport::Cache::Entry.new(value, **call.options, version: call.version))
        end
      end

      # As Rails'.
      #
      # @overload exist?(name, options = nil)
      ruby2_keywords def exist?(name, *given)
        return super(name, *versioned(name, given)) unless given.size < 2 && unpatched?

        call = call_of(name, given.first)
        instrument(:exist?, call.shown) do
          live?(level.read(call), call.version)
        end
      end

      # ---- for computations ----

      # Sends the event of a read around the block.
      #
      # @api private
      # @yieldreturn [ActiveSupport::Cache::Entry, nil]
      def reading(call, operation = :fetch)
        instrument(:read, call.shown, call.options) do |payload|
          entry = yield
          if payload
            payload[:super_operation] = operation if operation
            payload[:hit] = !entry.nil?
          end
          entry
        end
      end

      # A hit of `fetch`, after which the value is computed again if that is due.
      #
      # @api private
      def serve(entry, call, block)
        refresh_if_due(entry, call, block) if call.keeps?
        hit(entry, call)
      end

      # @api private
      # @return [void]
      def refresh_if_due(entry, call, block)
        early = !entry.expired? && call.options[:early_refresh] && level.early?(call.key)
        Computation.new(self, call, block).refresh(entry, early) if early || entry.expired?
      end

      # @api private
      # @return [Object] the value
      def hit(entry, call)
        instrument(:fetch_hit, call.name, call.options)
        entry.value
      end

      # Runs a block within Rails' event.
      #
      # @api private
      # @return [Array(Object, Hash)] the value, and the options of its write
      def generate(call)
        options = call.options.dup
        value = instrument(:generate, call.shown, options) do
          yield call.name, WriteOptions.new(options).of(call, level)
        end
        [value, options]
      end

      # @api private
      def answered_with_old_value(error)
        level.failsafe.answered_with_old_value(error, logger)
      end

      private

      # @param options [Hash, nil] of the caller
      # @return [Call]
      def call_of(name, options = nil)
        merged = merged_options(options)
        key = normalize_key(name, merged)
        prefix = merged[:namespace] ? namespace_prefix(merged) : ""
        Call.new(name, key, merged, normalize_version(name, merged), prefix)
      end

      # @param merged [Hash]
      # @return [Call] of several names, or of a key that the caller has made
      def call_for(key, merged)
        Call.new(key, key, merged, merged[:version] && normalize_version(key, merged), namespace_prefix(merged))
      end

      # Rails' methods know the version only after the entry was read, and a slow level asks for it.
      #
      # @param given [Array] the arguments of a call after the name
      # @return [Array]
      def versioned(name, given)
        options = given.first
        return given if !level.slow? || given.size > 1 || (options && options[:version])

        version = normalize_version(name, merged_options(options))
        version ? instead_of(given, { **(options || {}), version: version }) : given
      end

      # The options of a call, in the form of those that it was given: keywords, or a Hash.
      def instead_of(given, options)
        first = given.first
        first.nil? || Hash.ruby2_keywords_hash?(first) ? [Hash.ruby2_keywords_hash(options)] : [options]
      end

      # True if an entry of the call is kept after it has expired.
      def keeps?(given)
        return false unless Call.keeps?(@options) || (given.is_a?(Hash) && Call.keeps?(given))

        Call.keeps?(merged_options(given))
      end

      # After a miss of a read: the caller of a view writes the value next.
      #
      # @param given [Hash] options of the call alone
      # @return [Object, nil] the value of another caller
      def announce_write(call, given, stale)
        note_read(call) if call.options[:tags] || (stale && call.tagged?)
        return unless stale ? call.single_flight? && !Flights.of(level.records, call.key) : Call.single_flight?(given)

        read_in_single_flight(call)
      end

      def compute(call, block)
        return SoftComputation.new(self, call, block).value if call.soft? && !level.slow?

        Computation.new(self, call, block).value
      end

      # @return [ActiveSupport::Cache::Entry, nil] whose value can be read
      def fresh_entry(call)
        entry = level.read(call) or return
        return expired(entry, call) if entry.expired?
        return level.not_used(call.key) if entry.mismatched?(call.version)

        entry.value
        entry
      rescue DeserializationError
        level.not_used(call.key)
      end

      # An entry that has expired is removed, or lives on for race_condition_ttl while it is computed again. With single
      # flight, callers wait for the new value, and would take the old one for it.
      #
      # @return [nil]
      def expired(entry, call)
        level.not_used(call.key)
        seconds = call.race
        if seconds.positive? && !call.single_flight? && Clock.now - entry.expires_at <= seconds
          level.store_again(call, entry, seconds)
        else
          drop_entry(call)
        end
        nil
      end

      # The remote store may have a newer entry, and removes an old one itself.
      def drop_entry(call)
        level.slow? ? level.drop_expired([call.key]) : delete_entry(call.key, **call.options)
      end

      # @return [Boolean] true if the entry can be read
      def live?(entry, version)
        (entry && !entry.expired? && !entry.mismatched?(version)) || false
      end

      def kept_entry(call)
        entry = level.kept(call)
        call.usable(entry, :stale_while_revalidate) || (level.not_used(call.key, entry) if entry)
      end

      def read_fresh(call)
        instrument(:read, call.shown, call.options) do |payload|
          entry = level.read(call)
          if entry&.expired?
            level.not_used(call.key)
            drop_entry(call)
            entry = nil
          end
          entry = level.not_used(call.key) if entry&.mismatched?(call.version)
          value_of(entry, call, payload)
        end
      end

      def value_of(entry, call, payload)
        payload[:hit] = !entry.nil? if payload
        entry&.value
      rescue DeserializationError
        payload[:hit] = false if payload
        level.not_used(call.key)
      end

      def read_kept(call)
        entry = nil
        reading(call, nil) do
          entry = kept_entry(call)
          next entry unless entry&.expired?

          if take_for_write(call) then entry = level.not_used(call.key, entry)
          else
            announce("stale.larder", call, reason: :stale_while_revalidate)
            entry
          end
        end
        entry&.value
      end

      # Takes the lease of a value that has expired, for the write that follows.
      def take_for_write(call)
        Computation.new(self, call, nil).take_over(false) do |lease|
          hold_for_write(call, lease, :stale_while_revalidate)
        end
      end

      # @param token [String, nil] of the lease; nil: another caller's, so that the write stores nothing
      # @param option [Symbol] of the read
      def hold_for_write(call, token, option)
        seconds = Flights.seconds(call.key, call.lease)
        Flights.current.add(Flight.new(level.records, call.key, token: token, option: option, seconds: seconds))
      end

      # A view's write with tags follows its read.
      def note_read(call)
        Flights.current.note_read(Flight.new(level.records, call.key, stamp: level.stamp(call)))
      end

      # @return [Object, nil] the value of another caller; nil: this one is to write it
      def read_in_single_flight(call)
        state, found = single_flight.join(call, monotonic_now + call.wait) do |lease|
          hold_for_write(call, lease, :single_flight)
        end
        hold_for_write(call, nil, :single_flight) if state == :alone
        found if state == :found
      end

      # The write that stores a value for a `read` has the option of the read: the `cache` of a view gives it to both.
      # Any other replaces what the key has, also if another caller has written since the read. So the option of the
      # store alone does not count.
      def give_up_reads(name, given)
        key = normalize_key(name, merged_options(given))
        Flights.current.announced(level.records, key).each do |flight|
          Flights.current.give_up(flight) unless given.is_a?(Hash) && given[flight.option]
        end
      end

      def leases?(given)
        Call.leases?(@options) || (given.is_a?(Hash) && Call.leases?(given))
      end

      # @param given [Array] the arguments of a call after the value
      # @return [Array]
      def with_jitter(given)
        options = given.first
        return given unless @options.key?(:jitter) || (options.is_a?(Hash) && options.key?(:jitter))

        all = merged_options(options)
        return given unless all[:jitter] && all[:expires_in]

        instead_of(given, all.merge(expires_in: all[:expires_in] * (1 - (rand * all[:jitter]))))
      end

      def store_entry(call, entry)
        level.write(call, entry, (Flights.begun&.for_write(level.records, call.key) if call.leases?))
      end

      # ---- Rails' hooks ----

      # Called by Rails' fetch, where that is patched.
      def handle_expired_entry(entry, key, options)
        entry&.expired? ? expired(entry, native_call(key, key, options)) : entry
      end

      # Called by Rails' fetch, where that is patched.
      def save_block_result_to_cache(name, *key, options, &block)
        compute(native_call(name, key.first || normalize_key(name, options), options), block)
      end

      def read_entry(key, **options)
        level.read(call_for(key, options))
      end

      def write_entry(key, entry, **options)
        store_entry(call_for(key, options), entry)
      end

      def delete_entry(key, **)
        level.delete(key)
      end
    end
  end
end
