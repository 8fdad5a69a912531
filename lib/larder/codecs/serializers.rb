# frozen_string_literal: true

# The table of serializers: name and id of the frame. Each has a file in serializers/, and most use a gem.
#
# To add one: a class there with `dump(value)` and `load(bytes)`, a row of SERIALIZERS in frame.rb with an id that was
# never used, a row in the table of docs/guides/codecs.md. The shared tests (test/larder/codecs/) find it by this table.

module Larder
  # Turns values into bytes, for any ActiveSupport::Cache store: see Larder::Coder.
  module Serializers
    TABLE = Codecs::Frame::SERIALIZERS
    # What a class declared for its objects, see Larder::Cacheable::Frame.
    TYPED = Codecs::Frame::TYPED
    REGISTRY = Codecs::Registry.new("serializer", self, TABLE)

    # @param name [Symbol, String] one of `names`
    # @param options [Hash] see Larder::Serializer#initialize and the serializer itself
    # @return [Larder::Serializer] has `dump` and `load`
    # @raise [ArgumentError] an unknown name or option; the message names those that there are
    # @raise [Larder::MissingGemError]
    # @example
    #   Larder::Coder.new(serializer: Larder::Serializers[:message_pack, max_bytes: 1 << 20])
    def self.[](name, **options)
      Serializer.new(name, **options)
    end

    # @return [Array<Symbol>]
    def self.names
      REGISTRY.names
    end
  end
end
