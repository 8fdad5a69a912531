# frozen_string_literal: true

# Lists the codecs that are compared: their names on the command line, their options, and their titles.

require_relative "../errors"

module Larder
  module Lab
    # Codecs that are measured against each other. Nothing of a codec is loaded here.
    module TrialContenders
      # name: what users type; codec and options: as Larder's registry has them; family: what levels belong to
      Contender = Struct.new(:name, :codec, :options, :title, :usual, keyword_init: true) do
        # @return [Hash] for a worker's job
        def to_job
          { name: name, codec: codec.to_s, options: options }
        end
      end

      def self.contender(name, codec, title, usual: true, **options)
        Contender.new(name: name, codec: codec, options: options, title: title, usual: usual)
      end
      private_class_method :contender

      # @return [Array<Contender>]
      COMPRESSORS = [
        contender("none", :none, "no compression: the bytes as they are"),
        contender("snappy", :snappy, "Snappy"),
        contender("lz4", :lz4, "LZ4"),
        contender("lz4-9", :lz4, "LZ4 HC, level 9", level: 9),
        contender("lz4_flex", :lz4_flex, "LZ4 in Rust, Ruby 3.2 and later"),
        contender("zstd-1", :zstd, "Zstandard, level 1", level: 1),
        contender("zstd-3", :zstd, "Zstandard, level 3, its default", level: 3),
        contender("zstd-9", :zstd, "Zstandard, level 9", level: 9),
        contender("brotli-5", :brotli, "Brotli, quality 5", quality: 5),
        contender("brotli-11", :brotli, "Brotli, quality 11, its default", quality: 11),
        contender("gzip-1", :gzip, "gzip, level 1", level: 1),
        contender("gzip-6", :gzip, "gzip, level 6, its default", level: 6),
        contender("gzip-9", :gzip, "gzip, level 9", level: 9),
        contender("zlib", :zlib, "Rails' default compressor, as Rails calls it")
      ].freeze

      # @return [Array<Contender>]
      SERIALIZERS = [
        contender("larder", :larder, "what Larder's store does with a value"),
        contender("rails", :rails, "Rails' default: Marshal, and zlib where it helps"),
        contender("marshal", :marshal, "Marshal"),
        contender("message_pack", :message_pack, "MessagePack as Rails extends it"),
        contender("json", :json, "JSON of the attributes; loses types"),
        contender("active_support_json", :active_support_json, "ActiveSupport's JSON; loses types"),
        contender("xml", :xml, "XML of the attributes; loses types", usual: false),
        contender("protobuf", :protobuf, "Protocol Buffers of the attributes; loses types", usual: false)
      ].freeze

      # What a type may declare, with the published names.
      # @return [Array<Contender>]
      STRATEGIES = [
        contender("binary", :marshal, "Marshal, which is Ruby's binary formatter"),
        contender("xml", :xml, "XML, the id an attribute of its record, as published", shape: :attribute),
        contender("xml-child", :xml, "XML, the id a child as the others are", shape: :child),
        contender("json", :json, "JSON"),
        contender("protobuf", :protobuf, "Protocol Buffers"),
        contender("message_pack", :message_pack_rows, "MessagePack, of Hashes"),
        contender("native", :native, "Larder's own bytes")
      ].freeze

      module_function

      # @param all [Array<Contender>]
      # @param names [Array<String>, nil] nil: those that take part without being asked for
      # @return [Array<Contender>]
      # @raise [UsageError] at an unknown name
      def choose(all, names)
        return all.select(&:usual) unless names

        names.flat_map do |name|
          found = all.select { |contender| contender.name == name }
          found = all.select { |contender| contender.name.start_with?("#{name}-") } if found.empty?
          raise UsageError, "unknown codec #{name}; known: #{all.map(&:name).join(", ")}" if found.empty?

          found
        end.uniq
      end
    end
  end
end
