# frozen_string_literal: true

# Makes records of the file from entries of Rails, and entries from records.

module Larder
  module Store
    # A plain value is its own bytes in the file, and any other is bytes of the store's coder. Plain values are
    # instances of String in UTF-8, ASCII or binary, Symbols, Floats, Integers of a machine word, true, false, nil; and,
    # unless the store was given a serializer, the Arrays, Hashes and objects that Larder::Tree knows. A store that was
    # given a coder, or a serializer that is an object, has no plain values. `raw: true` has no effect on the file, as
    # in MemoryStore and FileStore.
    # @api private
    class RecordFormat
      Entry = ActiveSupport::Cache::Entry
      # The bytes of a counter. No entry dumped by Rails' coder matches.
      COUNTER = /\A-?\d{1,19}\z/
      LONGEST_COUNTER = 20
      # Milliseconds that an entry has room for.
      MOST_MS = 0xffff_ffff
      private_constant :Entry, :COUNTER, :LONGEST_COUNTER

      # @return [Boolean] true if plain values are stored without asking a coder
      attr_reader :plain_values
      # @return [Boolean] true for Arrays, Hashes and objects that Larder::Tree knows, too
      attr_reader :plain_trees

      # @param store [ActiveSupport::Cache::Store] whose coder is asked by Rails' methods serialize_entry and
      #   deserialize_entry, and which has the default options of compression
      # @param records [Records]
      # @param coder [Object] of the store
      def initialize(store, records, coder, plain_values:, plain_trees:)
        @store = store
        @records = records
        @rails_coder = coder.is_a?(ActiveSupport::Cache::Coder)
        @plain_values = plain_values
        @plain_trees = plain_trees
      end

      # @param entry [ActiveSupport::Cache::Entry]
      # @param options [Hash] of the call
      # @param compute_ms [Integer, nil] milliseconds that the value took to compute; nil: unknown
      # @return [Array] as Records#set takes it
      def record_of(entry, options, compute_ms = nil)
        record = plain_or_dumped(entry, options)
        return record unless Call.keeps?(options)

        stale = Call::WINDOWS.filter_map { |name| options[name]&.to_f }.max
        @records.kept(record, (stale.to_f * 1000).ceil, compute_ms.to_i.clamp(0, MOST_MS))
      end

      # @param bytes [String] of the coder
      # @param expires_in [Numeric, nil] seconds
      # @param race_condition_ttl [Numeric, nil] seconds
      # @return [Array(String, Integer, Integer)]
      def dumped_record(bytes, expires_in, race_condition_ttl)
        [checked(bytes), *@records.terms(expires_in&.to_f, race_condition_ttl&.to_f, Clock.now_ms)]
      end

      # @param found [String, Array(Object, Float, String), Array(String, Float)] bytes, a plain value with its expiry
      #   and version, or bytes whose record tells when the entry expires
      # @return [ActiveSupport::Cache::Entry, nil] nil: the bytes cannot be read
      def entry_of(found)
        return load(found) unless found.instance_of?(Array)
        return load(found.first)&.tap { |entry| entry.expires_at = found.last } if found.size == 2

        value, expires_at, version = found
        Entry.new(value, expires_at: expires_at, version: version)
      end

      # @param record [Array] of an entry that does not expire, as {#record_of} answers
      # @return [Object] its value, a new object
      def copy_of(record)
        entry_of(@records.entry_of(record)).value
      end

      # @return [ActiveSupport::Cache::Entry, nil] of what was found, if its value can be read. Not one that has expired
      #   and was not to be served stale: it is there for race_condition_ttl
      def kept_entry_of(found)
        entry = entry_of(found) if found
        entry&.value
        entry unless entry&.expired? && !(found.instance_of?(Array) && found.size.even?)
      rescue ActiveSupport::Cache::DeserializationError
        nil
      end

      # @param payload [String] bytes of the coder, or a counter of the engine
      # @return [ActiveSupport::Cache::Entry, nil]
      def load(payload)
        counter?(payload) ? Entry.new(payload.to_i) : @store.send(:deserialize_entry, payload)
      end

      # @return [Boolean] true for a counter of the engine
      def counter?(payload)
        payload.bytesize <= LONGEST_COUNTER && COUNTER.match?(payload) && rails_coder?
      end

      # Rails' coder recognizes bytes that it has not dumped; another may not.
      # @return [Boolean]
      def rails_coder?
        @rails_coder
      end

      # @return [Boolean] true if plain values are stored as they are in calls with these options
      def plain?(options)
        @plain_values && !@store.options[:compress] && !Call.keeps?(options)
      end

      private

      def plain_or_dumped(entry, options)
        plain = plain_record(entry, options)
        return plain if plain && !to_compress?(plain.first, options)

        bytes = checked(@store.send(:serialize_entry, entry, **options))
        return plain if plain && bytes.bytesize >= plain.first.bytesize # it did not become smaller

        dumped_record(bytes, options[:expires_in], options[:race_condition_ttl])
      end

      # @return [Array(String, Integer, Integer), nil] nil: the value is not plain
      def plain_record(entry, options)
        return if !@plain_values || entry.compressed?

        @records.plain(entry.value, entry.expires_at, options[:expires_in]&.to_f,
                       options[:race_condition_ttl]&.to_f, entry.version, Clock.now_ms, @plain_trees)
      end

      def to_compress?(bytes, options)
        defaults = @store.options
        options.fetch(:compress) { defaults[:compress] } &&
          bytes.bytesize >= options.fetch(:compress_threshold) { defaults[:compress_threshold] }
      end

      def checked(payload)
        return payload if payload.is_a?(String)

        raise TypeError, "the coder of LarderStore must dump to a String, it dumped to #{payload.class}: a cache of " \
                         "bytes cannot hold objects as they are"
      end
    end
  end
end
