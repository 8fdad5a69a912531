# frozen_string_literal: true

# Owns reading and writing one entry: what Store's public methods call with a finished key and merged options.

module Larder
  module Store
    # Entries are stored as Rails' coder dumps them, raw values as their bytes.
    module Entries
      Entry = ActiveSupport::Cache::Entry
      DeserializationError = ActiveSupport::Cache::DeserializationError
      # What the engine answers for a counter. No entry dumped by Rails' coder looks like it.
      COUNTER = /\A-?\d{1,19}\z/
      LONGEST_COUNTER = 20
      private_constant :Entry, :DeserializationError, :COUNTER, :LONGEST_COUNTER

      private

      # Store's, and: who gives a threshold to one call wants that call to compress.
      def merged_options(call_options)
        if call_options && call_options.key?(:compress_threshold) && !call_options.key?(:compress)
          call_options = call_options.merge(compress: true)
        end
        super
      end

      def read_entry(key, **options)
        payload = failsafe(:read_entry) { @cache.get(key, now: now) }
        deserialize_entry(payload, raw: options[:raw]) if payload
      end

      def write_entry(key, entry, **options)
        raw = options[:raw]
        payload = checked_payload(serialize_entry(entry, **options))
        ttl = engine_ttl(options[:expires_in], options[:race_condition_ttl], raw)

        store_safely(:write_entry) do
          if options[:unless_exist]
            write_unless_exist(key, payload, ttl, raw)
          else
            @cache.set(key, payload, ttl: ttl, now: now) || raise(refusal(key))
          end
        end
      end

      def delete_entry(key, **)
        failsafe(:delete_entry, returning: false) { @cache.delete(key, now: now) }
      end

      # The engine's `add` holds while an expired entry is kept for race_condition_ttl; such a one is replaced, by
      # compare and swap, so that of several callers one wins.
      def write_unless_exist(key, payload, ttl, raw)
        time = now
        return true if @cache.add(key, payload, ttl: ttl, now: time)
        return false if raw

        present = @cache.get(key, now: time)
        return false unless present && deserialize_entry(present)&.expired?

        @cache.cas(key, present, payload, ttl: ttl, now: time)
      end

      # The block's answer; false where the value can never be stored, nil where the cache could not serve.
      def store_safely(method)
        yield
      rescue Larder::InvalidArgument => e
        failed(method, false, e)
      rescue *Failsafe::ERRORS => e
        failed(method, nil, e)
      end

      def refusal(key)
        Larder::Error.new("the cache refused to store #{key.inspect}: a lock was not had in time or no room could be " \
                          "made; whatever the key held is dropped")
      end

      def serialize_entry(entry, raw: false, **options)
        return entry.value.to_s if raw

        options = merged_options(options) unless options.key?(:compress) && options.key?(:compress_threshold)
        if options[:compress] && @coder_supports_compression
          @coder.dump_compressed(entry, options[:compress_threshold])
        else
          @coder.dump(entry)
        end
      end

      def deserialize_entry(payload, raw: false, **)
        return if payload.nil?
        return Entry.new(text(payload)) if raw
        return Entry.new(payload.to_i) if counter?(payload)

        @coder.load(payload)
      rescue DeserializationError
        nil
      end

      # A counter that is not asked for as raw is its number, as in the stores that keep entries in memory or files.
      def counter?(payload)
        payload.bytesize <= LONGEST_COUNTER && COUNTER.match?(payload) && rails_coder?
      end

      # Rails' coder knows what it has not dumped; what another would do with a raw value, nobody knows.
      def rails_coder?
        @coder.instance_of?(ActiveSupport::Cache::Coder)
      end

      # Raw values come back as text where they are text, as from Rails' stores that keep them on a server.
      def text(bytes)
        bytes.force_encoding(Encoding::UTF_8)
        bytes.valid_encoding? ? bytes : bytes.force_encoding(Encoding::BINARY)
      end

      def checked_payload(payload)
        return payload if payload.is_a?(String)

        raise TypeError, "the coder of LarderStore must dump to a String, it dumped to #{payload.class}: a cache of " \
                         "bytes cannot hold objects as they are (coder: nil)"
      end
    end
  end
end
