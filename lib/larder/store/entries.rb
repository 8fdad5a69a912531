# frozen_string_literal: true

# Reads and writes one entry: the methods that Store's public ones call with a finished key and merged options. In the
# file, a plain value is its own bytes, and any other is bytes of the coder. `raw: true` has no effect, as in
# MemoryStore and FileStore.

module Larder
  module Store
    # Plain values are instances of String in UTF-8, ASCII or binary, Symbols, Floats, Integers of a machine word, true,
    # false, nil, and Arrays and Hashes of these. A store that was given a coder or serializer uses it for those too.
    module Entries
      Entry = ActiveSupport::Cache::Entry
      DeserializationError = ActiveSupport::Cache::DeserializationError
      # The bytes of a counter. No entry dumped by Rails' coder matches.
      COUNTER = /\A-?\d{1,19}\z/
      LONGEST_COUNTER = 20
      # An entry with the record in the file that it was made from.
      module Recorded
        # @return [Array] as Records#get
        attr_accessor :record
      end
      private_constant :Entry, :DeserializationError, :COUNTER, :LONGEST_COUNTER, :Recorded

      private

      def read_entry(key, **options)
        return read_far(key, options) if @remote

        options[:race_condition_ttl] ? recorded_entry(key) : file_entry(key)
      end

      def file_entry(key)
        found = failsafe(:read_entry) { @records.get_entry(key, now_ms) }
        entry_of(found) if found
      end

      # An entry that has expired knows its record: handle_expired_entry may store it again.
      def recorded_entry(key)
        record = failsafe(:read_entry) { @records.get(key, now_ms) }
        entry = entry_of(@records.entry_of(record)) if record
        entry.extend(Recorded).record = record if entry&.expired?
        entry
      end

      def write_entry(key, entry, **options)
        return write_far(key, entry, options) if @remote

        record = with_tags(record_of(entry, options), key, options)
        store_safely(:write_entry) do
          if options[:unless_exist]
            write_unless_exist(key, record)
          else
            store_record(key, record, now_ms, options)
          end
        end
      end

      def store_record(key, record, time, _options = nil)
        stored = @records.set(key, record, time)
        raise refusal(key) unless stored || was_cleared?(record)

        stored
      end

      # Called by Rails' fetch, which stores an entry again for race_condition_ttl if it has expired a short while ago.
      # With single flight, callers wait for the new value, and would take this one for it.
      def handle_expired_entry(entry, key, options)
        return super unless options[:race_condition_ttl] && entry&.expired?

        if flies?(options)
          return @remote ? nil : super(entry, key, options.except(:race_condition_ttl)) # which may have a newer one
        end

        seconds = options[:race_condition_ttl].to_i
        return super if @remote || seconds <= 0 || now - entry.expires_at > seconds

        store_again(key, entry, seconds, options) if entry.is_a?(Recorded)
        nil
      end

      # Compare and swap keeps the tags of the entry, and does not overwrite what was deleted or written since it was
      # read.
      def store_again(key, entry, seconds, options)
        again = Entry.new(entry.value, version: entry.version, expires_at: now + seconds)
        again = record_of(again, { **options, expires_in: seconds * 2 })
        store_safely(:write_entry) { @records.cas(key, entry.record, again, now_ms) }
      end

      def delete_entry(key, **)
        failsafe(:delete_entry, returning: false) { @cache.delete(key, now: now) }
      end

      # The engine's `add` fails while an expired entry is kept for race_condition_ttl. Such an entry is replaced by
      # compare and swap, so that one of several callers succeeds.
      def write_unless_exist(key, record)
        time = now_ms
        return true if @records.add(key, record, time)

        present = @records.get(key, time)
        return false unless present && entry_of(@records.entry_of(present))&.expired?

        bytes, flags, ttl_ms, *more = record
        ttl_ms = Larder::Options::SHORTEST_MS if ttl_ms.negative? # also one that has expired already
        @records.cas(key, present, [bytes, flags, ttl_ms, *more], time)
      end

      # The block's value; false: the value can never be stored, nil: the cache could not serve.
      def store_safely(method)
        yield
      rescue Larder::UnserializableError
        raise
      rescue Larder::InvalidArgument => e
        failed(method, false, e)
      rescue *Failsafe::ERRORS => e
        failed(method, nil, e)
      end

      def refusal(key)
        Larder::Error.new("the cache refused to store #{key.inspect}: lock timeout, or cache full; whatever the key " \
                          "held is dropped")
      end

      # @return [Array(String, Integer, Integer)] bytes, flags and time to live in milliseconds
      def record_of(entry, options)
        plain = plain_record(entry, options)
        return plain if plain && !to_compress?(plain.first, options)

        bytes = checked_payload(serialize_entry(entry, **options))
        return plain if plain && bytes.bytesize >= plain.first.bytesize # it did not become smaller

        bytes_record(bytes, options[:expires_in], options[:race_condition_ttl])
      end

      # The same for bytes of Rails' coder.
      def bytes_record(bytes, expires_in, race_condition_ttl)
        [bytes, *@records.terms(expires_in&.to_f, race_condition_ttl&.to_f, now_ms)]
      end

      # The same for a plain value; nil for any other.
      def plain_record(entry, options)
        return if !@plain_values || entry.compressed?

        @records.plain(entry.value, entry.expires_at, options[:expires_in]&.to_f,
                       options[:race_condition_ttl]&.to_f, entry.version, now_ms, @plain_trees)
      end

      # Adds the options of compression that the caller left out.
      def with_compression(options)
        options.key?(:compress) && options.key?(:compress_threshold) ? options : merged_options(options)
      end

      def to_compress?(bytes, options)
        options = with_compression(options)
        options[:compress] && bytes.bytesize >= options[:compress_threshold]
      end

      # @param found [String, Array(Object, Float, String), Array(String, Float), nil] bytes, a plain value with its
      #   expiry and version, or bytes whose record tells when the entry expires
      def entry_of(found)
        return deserialize_entry(found) unless found.instance_of?(Array)
        return deserialize_entry(found.first)&.tap { |entry| entry.expires_at = found.last } if found.size == 2

        value, expires_at, version = found
        Entry.new(value, expires_at: expires_at, version: version)
      end

      # Called by the fast path to store a value that is not plain.
      def store_dumped(key, value, version, expires_at, expires_in, race_condition_ttl, time)
        bytes = checked_payload(@coder.dump(Entry.new(value, expires_at: expires_at, version: version)))
        record = bytes_record(bytes, expires_in, race_condition_ttl)
        store_safely(:write_entry) { store_record(key, record, time) }
      end

      # Called by the fast path to store a plain value that is large, or whose lock was taken.
      def store_bytes(key, bytes, flags, ttl_ms, time)
        store_safely(:write_entry) { store_record(key, [bytes, flags, ttl_ms], time) }
      end

      # Called by the fast path for bytes that are not a plain value.
      #
      # @return [Object] the entry's value, NONE or EXPIRED
      def value_found(bytes, version)
        value_of(deserialize_entry(bytes), version)
      end

      # The same of a record that tells until when the value is fresh: the bytes may say that it has expired.
      def value_kept(bytes, version)
        value_of(deserialize_entry(bytes)&.tap { |entry| entry.expires_at = nil }, version)
      end

      # The same for an entry that the fast path cannot read.
      def value_read(key, name, version)
        version = normalize_version(name, version: version)
        value_of(read_entry(key, version: version), version)
      end

      # Called by the fast path, within an event, to store a value that it cannot.
      def write_value(key, name, value, options)
        write_entry(key, Entry.new(value, **options, version: normalize_version(name, options)), **options)
      end

      # The same for many.
      def write_values(hash, options)
        entries = hash.to_h do |name, value|
          [normalize_key(name, options), Entry.new(value, **options, version: normalize_version(name, options))]
        end
        write_multi_entries(entries, **options) && hash
      end

      # The same, to find out whether there is a live entry.
      def entry_live?(key, name, version)
        version = normalize_version(name, version: version)
        entry = read_entry(key, version: version)
        (entry && !entry.expired? && !entry.mismatched?(version)) || false
      end

      def value_of(entry, version)
        return FastPath::NONE unless entry
        return FastPath::EXPIRED if entry.expired?

        entry.mismatched?(version) ? FastPath::NONE : entry.value
      rescue DeserializationError
        FastPath::NONE
      end

      def deserialize_entry(payload, **)
        payload && counter?(payload) ? Entry.new(payload.to_i) : super
      end

      # Is it a counter of the engine?
      def counter?(payload)
        payload.bytesize <= LONGEST_COUNTER && COUNTER.match?(payload) && rails_coder?
      end

      # Rails' coder recognizes bytes that it has not dumped; another may not.
      def rails_coder?
        @coder.is_a?(ActiveSupport::Cache::Coder)
      end

      def checked_payload(payload)
        return payload if payload.is_a?(String)

        raise TypeError, "the coder of LarderStore must dump to a String, it dumped to #{payload.class}: a cache of " \
                         "bytes cannot hold objects as they are"
      end
    end
  end
end
