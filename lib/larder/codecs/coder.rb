# frozen_string_literal: true

# The bytes of an entry in any Rails store that has Larder's codecs. It replaces Rails' own coder, which writes the
# expiry, the version and Strings without asking the serializer, and reads a version with Marshal.

require "active_support/cache"
require "larder/codecs"

module Larder
  # The `coder:` of any ActiveSupport::Cache store: Rails' own format with one of Larder's serializers. A signature
  # covers the whole entry, including Strings, expiry and version. Unless the store is trusted, reading a version cannot
  # run code.
  #
  #   config.cache_store = :redis_cache_store, {
  #     url: ENV["REDIS_URL"],
  #     coder: Larder::Coder.new(serializer: :message_pack, compressor: Larder::Compressors::Zstd.new(level: 3))
  #   }
  class Coder < ActiveSupport::Cache::Coder
    # The id of the frame around a signed entry; no serializer has it.
    ENTRY = Codecs::Frame::ENTRY
    MARSHAL = "\x04\x08".b.freeze
    private_constant :MARSHAL

    # @param serializer [Symbol, String, Larder::Serializer] one of Larder::Serializers.names, or what
    #   Larder::Serializers[] returns
    # @param compressor [Symbol, String, #deflate, nil] one of Larder::Compressors.names, or an object with `deflate`
    #   and `inflate`; nil: nothing is compressed
    # @raise [ArgumentError] an unknown name or another object; the message lists the known names
    # @raise [Larder::MissingGemError]
    # @example
    #   Larder::Coder.new(serializer: Larder::Serializers[:native, sign_with: "sixteen bytes or more"], compressor: nil)
    def initialize(serializer: :native, compressor: :gzip)
      @configured = serializer_of(serializer)
      @signature = @configured.signature
      super(@signature ? @configured.enclosed : @configured, compressor_of(compressor))
    end

    # @return [Boolean]
    def signed?
      !@signature.nil?
    end

    # @param entry [ActiveSupport::Cache::Entry]
    # @param threshold [Numeric] bytes
    # @return [String]
    def dump_compressed(entry, threshold)
      bytes = super
      @signature ? Codecs::Frame.value(ENTRY, bytes, signature: @signature) : bytes
    end

    # @param dumped [String]
    # @return [ActiveSupport::Cache::Entry]
    # @raise [ActiveSupport::Cache::DeserializationError] which stores treat as a miss
    def load(dumped)
      Codecs::Reading.guard(@configured, dumped.is_a?(String) ? dumped.bytesize : 0) do
        raise UnreadableError, "foreign (no String)" unless dumped.is_a?(String)

        entry = super(@signature ? verified(dumped) : dumped)
        raise UnreadableError, "foreign (no entry)" unless entry.is_a?(ActiveSupport::Cache::Entry)

        entry
      end
    end

    private

    def serializer_of(given)
      return given if given.is_a?(Serializer)
      return Serializers[given] if name?(given)

      raise ::ArgumentError, "serializer: of Larder::Coder is #{given.inspect}; it takes one of Larder::Serializers: " \
                             "a name (#{Serializers.names.map(&:inspect).join(", ")}), or Larder::Serializers[…]"
    end

    def compressor_of(given)
      return Compressors.lookup(given) if name?(given)
      return given if given.nil? || (given.respond_to?(:deflate) && given.respond_to?(:inflate))

      raise ::ArgumentError, "compressor: of Larder::Coder is #{given.inspect}; it takes a name " \
                             "(#{Compressors.names.map(&:inspect).join(", ")}), what has deflate and inflate, or nil"
    end

    def name?(given)
      given.is_a?(Symbol) || given.is_a?(String)
    end

    def verified(dumped)
      dumped = dumped.b
      raise UnreadableError, "unsigned" unless Codecs::Frame.value?(dumped)

      id, bytes = Codecs::Frame.open_value(dumped, signature: @signature)
      id == ENTRY ? bytes : raise(UnreadableError, "foreign (a signed value that is no entry)")
    end

    def load_version(dumped)
      if dumped.start_with?(MARSHAL) && !@configured.trusted?
        raise UnreadableError, "untrusted (a version by Marshal)"
      end

      super
    end
  end
end
