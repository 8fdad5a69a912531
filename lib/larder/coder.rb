# frozen_string_literal: true

# An entry's bytes, in stores that were given one of Larder's serializers. Rails' own coder puts the expiry, the version
# and Strings around or beside what a serializer makes, asks it about none of them, and reads a version by Marshal.

require "active_support/cache"

module Larder
  # Rails' coder, and: what is signed is signed as a whole, Strings, expiry and version included; and a version is
  # nothing that runs code, unless the store is trusted.
  # @api private
  class Coder < ActiveSupport::Cache::Coder
    # Of the frame around a signed entry, beside the ids of serializers.
    ENTRY = 0x3F
    MARSHAL = "\x04\x08".b.freeze
    private_constant :MARSHAL

    # Gives stores this coder in place of Rails' where the serializer is one of Larder's: there is no other place to ask
    # for it, but the option coder:, which would leave serializer: and compressor: without effect.
    module Factory
      # @api private
      def new(serializer, *arguments, **options)
        return super unless equal?(ActiveSupport::Cache::Coder) && serializer.is_a?(Larder::Serializer)

        Larder::Coder.new(serializer, *arguments, **options)
      end
    end

    # @param serializer [Larder::Serializer]
    # @param arguments [Array] see ActiveSupport::Cache::Coder
    def initialize(serializer, *arguments, **options)
      super(serializer.signature ? serializer.enclosed : serializer, *arguments, **options)
      @configured = serializer
      @signature = serializer.signature
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
    # @raise [ActiveSupport::Cache::DeserializationError] which stores take for a miss
    def load(dumped)
      Codecs::Reading.guard(@configured) do
        entry = super(@signature ? verified(dumped) : dumped)
        raise UnreadableError, "foreign (no entry)" unless entry.is_a?(ActiveSupport::Cache::Entry)

        entry
      end
    end

    private

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

ActiveSupport::Cache::Coder.singleton_class.prepend(Larder::Coder::Factory)
