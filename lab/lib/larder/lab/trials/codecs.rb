# frozen_string_literal: true

# Calls contenders in a worker process: two procs, there and back. Loads Larder's codecs, and their gems when one is
# needed.

require "larder"
require "larder/codecs"
require "active_support"
require "active_support/cache"
require_relative "../errors"

module Larder
  module Lab
    # There and back by name.
    module TrialCodecs
      # there: value to bytes; back: bytes to value; keeps: whether what comes back is the value, and not a likeness
      Way = Struct.new(:there, :back, :keeps) do
        # @return [Boolean] false of "none"
        def compresses?
          !equal?(NONE)
        end
      end

      NONE = Way.new(->(bytes) { bytes }, ->(bytes) { bytes }, true).freeze

      module_function

      # @param codec [String]
      # @param options [Hash{Symbol => Object}]
      # @return [Way]
      # @raise [Unavailable] its gem is missing
      def compressor(codec, options)
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

      # @param codec [String]
      # @param value [Object] the payload, for schemas that follow from it
      # @return [Way]
      # @raise [Unavailable] its gem is missing
      def serializer(codec, options, value)
        case codec
        when "larder" then larder
        when "rails" then entries(rails_coder)
        else by_name(codec, options, value)
        end
      rescue ::Larder::MissingGemError => error
        raise Unavailable, error.message
      end

      # An entry's way through a store's coder.
      def entries(coder)
        there = ->(value) { coder.dump_compressed(ActiveSupport::Cache::Entry.new(value), 1024) }
        Way.new(there, ->(bytes) { coder.load(bytes).value }, true)
      end

      # What a Rails store uses that was told nothing.
      def rails_coder
        marshal = ActiveSupport::Cache::SerializerWithFallback[:marshal_7_1] # rubocop:disable Naming/VariableNumber
        ActiveSupport::Cache::Coder.new(marshal, Zlib)
      end

      # The store's: its own bytes, Marshal for the rest, and no compression.
      def larder
        require "active_support/cache/larder_store"
        made = ::Larder::Codecs::TreeSerializer.new(trusted: true, checksum: false)
        Way.new(made.method(:dump).to_proc, made.method(:load).to_proc, true)
      end

      # One of Larder's, as a store would have it.
      def by_name(codec, options, value)
        rows = codec == "message_pack_rows"
        codec = "message_pack" if rows
        options = options.transform_values { |option| option.is_a?(String) ? option.to_sym : option }
        options = options.merge(schema: schema_of(value)) if codec == "protobuf"
        made = ::Larder::Serializers[codec, trusted: true, checksum: false, **options]
        return Way.new(made.method(:dump).to_proc, made.method(:load).to_proc, true) unless rows || likeness?(codec)

        there = ->(given) { made.dump(plain(given)) }
        Way.new(there, made.method(:load).to_proc, false)
      end

      # They know lists and hashes only.
      def likeness?(codec)
        %w[json active_support_json xml protobuf].include?(codec)
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

      # Protobuf's message, derived from the first of a list.
      def schema_of(value)
        require "larder/codecs/serializers/protobuf_schema"
        first = plain(value.is_a?(Array) ? value.first : value)
        types = first.transform_values { |field| { Integer => :integer, Float => :float }.fetch(field.class, :string) }
        types.each_key { |name| types[name] = :boolean if [true, false].include?(first[name]) }
        ::Larder::Serializers::ProtobufSchema.of(types)
      end
    end
  end
end
