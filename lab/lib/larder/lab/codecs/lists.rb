# frozen_string_literal: true

# The lists of codecs that are compared. A new one is one line here.

require "larder/cli/registry"
require_relative "row"

module Larder
  module Lab
    module Codecs
      # Compressors by the names users type. Levels have rows of their own.
      module Compressors
        extend CLI::Registry
        holds "compressor"
        row = ->(*facts, **options) { Compressor.declare(self, *facts, **options) }

        row.call "none", :none, "no compression: the bytes as they are"
        row.call "snappy", :snappy, "Snappy"
        row.call "lz4", :lz4, "LZ4"
        row.call "lz4-9", :lz4, "LZ4 HC, level 9", slow: true, level: 9
        row.call "lz4_flex", :lz4_flex, "LZ4 in Rust, Ruby 3.2 and later"
        row.call "zstd-1", :zstd, "Zstandard, level 1", level: 1
        row.call "zstd-3", :zstd, "Zstandard, level 3, its default", level: 3
        row.call "zstd-9", :zstd, "Zstandard, level 9", slow: true, level: 9
        row.call "brotli-5", :brotli, "Brotli, quality 5", quality: 5
        row.call "brotli-11", :brotli, "Brotli, quality 11, its default", on_request: true, quality: 11
        row.call "gzip-1", :gzip, "gzip, level 1", slow: true, level: 1
        row.call "gzip-6", :gzip, "gzip, level 6, its default", level: 6
        row.call "gzip-9", :gzip, "gzip, level 9", slow: true, level: 9
        row.call "zlib", :zlib, "Rails' default compressor, as Rails calls it"
      end

      # Serializers, as in {Compressors}.
      module Serializers
        extend CLI::Registry
        holds "serializer"
        row = ->(*facts, **options) { Serializer.declare(self, *facts, **options) }

        row.call "larder", :larder, "Larder: what its store does with a value"
        row.call "rails", :rails, "Rails' default: Marshal, and zlib where it helps", slow: true
        row.call "marshal", :marshal, "Marshal"
        row.call "message_pack", :message_pack, "MessagePack as Rails extends it"
        row.call "json", :json, "JSON of the attributes; loses types"
        row.call "active_support_json", :active_support_json, "ActiveSupport's JSON; loses types"
        row.call "xml", :xml, "XML of the attributes; loses types", on_request: true
        row.call "protobuf", :protobuf, "Protocol Buffers of the attributes; loses types", on_request: true
      end

      # What a type may declare, with the published names.
      module Strategies
        extend CLI::Registry
        holds "strategy"
        row = ->(*facts, **options) { Strategy.declare(self, *facts, **options) }

        row.call "binary", :marshal, "Marshal, which is Ruby's binary formatter"
        row.call "xml", :xml, "XML, the id an attribute of its record, as published", shape: :attribute
        row.call "xml-child", :xml, "XML, the id a child as the others are", on_request: true,
                                                                               shape: :child
        row.call "json", :json, "JSON"
        row.call "protobuf", :protobuf, "Protocol Buffers"
        row.call "message_pack", :message_pack_rows, "MessagePack, of Hashes", on_request: true
        row.call "native", :native, "Larder's own bytes"
      end
    end
  end
end
