# frozen_string_literal: true

require "larder"
require "larder/codecs"
require "active_support"
require "active_support/cache"
require_relative "../errors"

module Larder
  module Lab
    # Serializers and compressors: their lists, and how each is called in a worker process, by two procs, there and
    # back. Loads Larder's codecs, and their gems when one is needed.
    # @api private
    module Codecs
      # there: value to bytes; back: bytes to value; keeps: whether the value itself comes back, and not a likeness;
      # asked: true once a store has used it as its serializer
      Way = Struct.new(:there, :back, :keeps, :asked) do
        # As Rails calls a serializer.
        def dump(value)
          self.asked = true
          there.call(value)
        end

        def load(bytes) = back.call(bytes)

        # As Rails calls a compressor.
        def deflate(bytes) = there.call(bytes)
        def inflate(bytes) = back.call(bytes)
      end

      NONE = Way.new(->(bytes) { bytes }, ->(bytes) { bytes }, true)
      # Bytes from which a store compresses.
      THRESHOLD = 1024
      # Serializers of lists and Hashes only.
      LIKENESSES = %w[json active_support_json xml protobuf message_pack_rows].freeze

      module_function

      def compressor(codec, **options)
        case codec
        when "none" then NONE
        when "zlib" then Way.new(->(bytes) { Zlib.deflate(bytes) }, ->(bytes) { Zlib.inflate(bytes) }, true)
        else
          made = ::Larder::Compressors.lookup(codec, checksum: false, **options)
          Way.new(made.method(:deflate).to_proc, made.method(:inflate).to_proc, true)
        end
      rescue ::Larder::MissingGemError => error
        raise Unavailable, error.message
      end

      def serializer(codec, value, **options)
        case codec
        when "larder" then larder
        when "rails" then rails
        else by_name(codec, value, options)
        end
      rescue ::Larder::MissingGemError => error
        raise Unavailable, error.message
      end

      # The store's: its own bytes, Marshal for the rest, and no compression.
      def larder
        require "active_support/cache/larder_store"
        both(::Larder::Codecs::TreeSerializer.new(trusted: true, checksum: false))
      end

      # Attributes of records and members of Structs, as text where JSON has no such type.
      def plain(value)
        case value
        when Array then value.map { |inner| plain(inner) }
        when Hash then value.to_h { |key, inner| [key.to_s, plain(inner)] }
        when Struct then value.to_h.to_h { |key, inner| [key.to_s, plain(inner)] }
        when String, Integer, Float, true, false, nil then value
        else value.respond_to?(:attributes) ? plain(value.attributes) : value.to_s
        end
      end

      # An entry's way through the coder of a Rails store without options.
      def rails
        marshal = ActiveSupport::Cache::SerializerWithFallback[:marshal_7_1] # rubocop:disable Naming/VariableNumber
        coder = ActiveSupport::Cache::Coder.new(marshal, Zlib)
        there = ->(value) { coder.dump_compressed(ActiveSupport::Cache::Entry.new(value), 1024) }
        Way.new(there, ->(bytes) { coder.load(bytes).value }, true)
      end

      # One of Larder's, as a store would have it.
      def by_name(codec, value, options)
        options = options.merge(schema: schema_of(value)) if codec == "protobuf"
        made = ::Larder::Serializers[codec.delete_suffix("_rows"), trusted: true, checksum: false, **options]
        return both(made) unless LIKENESSES.include?(codec)

        Way.new(->(given) { made.dump(plain(given)) }, made.method(:load).to_proc, false)
      end

      def both(made) = Way.new(made.method(:dump).to_proc, made.method(:load).to_proc, true)

      # The message of Protocol Buffers, derived from the first of a list.
      def schema_of(value)
        require "larder/codecs/serializers/protobuf_schema"
        first = plain(value.is_a?(Array) ? value.first : value)
        types = first.transform_values { |field| { Integer => :integer, Float => :float }.fetch(field.class, :string) }
        types.each_key { |name| types[name] = :boolean if [true, false].include?(first[name]) }
        ::Larder::Serializers::ProtobufSchema.of(types)
      end

      # Both as options of a store.
      def options(serializer, compressor)
        { serializer: serializer, compressor: compressor, compress: !compressor.equal?(NONE),
          compress_threshold: THRESHOLD }
      end

      # The bytes of a value in such a store: those that are not smaller when they are compressed stay as they are.
      def bytes(value, serializer, compressor)
        plain = serializer.there.call(value)
        return plain if plain.bytesize < THRESHOLD

        [plain, compressor.there.call(plain)].min_by(&:bytesize)
      end
      private_class_method :rails, :by_name, :both, :schema_of
    end
  end
end
