# frozen_string_literal: true

# Owns which codecs take part in a trial: names as users type them, what is loaded for each, what was published of it.

require_relative "../errors"

module Larder
  module Lab
    # Codecs that are measured against each other. Nothing of a codec is loaded here.
    module Contestants
      # name: what users type; codec and options: as Larder's registry has them; family: what levels belong to
      Contestant = Struct.new(:name, :codec, :options, :title, :usual, keyword_init: true) do
        # @return [Hash] for a worker's job
        def to_job
          { name: name, codec: codec.to_s, options: options }
        end
      end

      def self.contestant(name, codec, title, usual: true, **options)
        Contestant.new(name: name, codec: codec, options: options, title: title, usual: usual)
      end
      private_class_method :contestant

      # @return [Array<Contestant>]
      COMPRESSORS = [
        contestant("none", :none, "no compression: the bytes as they are"),
        contestant("snappy", :snappy, "Snappy"),
        contestant("lz4", :lz4, "LZ4"),
        contestant("lz4-9", :lz4, "LZ4 HC, level 9", level: 9),
        contestant("lz4_flex", :lz4_flex, "LZ4 in Rust, Ruby 3.2 and later"),
        contestant("zstd-1", :zstd, "Zstandard, level 1", level: 1),
        contestant("zstd-3", :zstd, "Zstandard, level 3, its default", level: 3),
        contestant("zstd-9", :zstd, "Zstandard, level 9", level: 9),
        contestant("brotli-5", :brotli, "Brotli, quality 5", quality: 5),
        contestant("brotli-11", :brotli, "Brotli, quality 11, its default", quality: 11),
        contestant("gzip-1", :gzip, "gzip, level 1", level: 1),
        contestant("gzip-6", :gzip, "gzip, level 6, its default", level: 6),
        contestant("gzip-9", :gzip, "gzip, level 9", level: 9),
        contestant("zlib", :zlib, "Rails' default compressor, as Rails calls it")
      ].freeze

      # @return [Array<Contestant>]
      SERIALIZERS = [
        contestant("larder", :larder, "what Larder's store does with a value"),
        contestant("rails", :rails, "Rails' default: Marshal, and zlib where it helps"),
        contestant("marshal", :marshal, "Marshal"),
        contestant("message_pack", :message_pack, "MessagePack as Rails extends it"),
        contestant("json", :json, "JSON of the attributes; loses types"),
        contestant("active_support_json", :active_support_json, "ActiveSupport's JSON; loses types"),
        contestant("xml", :xml, "XML of the attributes; loses types", usual: false),
        contestant("protobuf", :protobuf, "Protocol Buffers of the attributes; loses types", usual: false)
      ].freeze

      # What a type may declare, with the published names.
      # @return [Array<Contestant>]
      STRATEGIES = [
        contestant("binary", :marshal, "Marshal, which is Ruby's binary formatter"),
        contestant("xml", :xml, "XML, the id an attribute of its record, as published", shape: :attribute),
        contestant("xml-child", :xml, "XML, the id a child as the others are", shape: :child),
        contestant("json", :json, "JSON"),
        contestant("protobuf", :protobuf, "Protocol Buffers"),
        contestant("message_pack", :message_pack_rows, "MessagePack, of Hashes"),
        contestant("native", :native, "Larder's own bytes")
      ].freeze

      module_function

      # @param all [Array<Contestant>]
      # @param names [Array<String>, nil] nil: those that take part without being asked for
      # @return [Array<Contestant>]
      # @raise [UsageError] at an unknown name
      def choose(all, names)
        return all.select(&:usual) unless names

        names.flat_map do |name|
          found = all.select { |contestant| contestant.name == name }
          found = all.select { |contestant| contestant.name.start_with?("#{name}-") } if found.empty?
          raise UsageError, "unknown codec #{name}; known: #{all.map(&:name).join(", ")}" if found.empty?

          found
        end.uniq
      end
    end
  end
end
