# frozen_string_literal: true

require "larder/cli/registry"
require "set"
require_relative "../contender_declaration"

module Larder
  module Lab
    module Codecs
      # A codec that is compared, a row of a suite as a store is. A new one is one line in a list at the end. Instances
      # live in worker processes, and subclasses load the codec when they are opened.
      class Row
        include ContenderDeclaration

        # Gems whose versions a report tells, where they are loaded.
        GEMS = %w[brotli zstd-ruby snappy extlz4 lz4_flex msgpack json ox google-protobuf redis-client].freeze

        class << self
          # The codec's name in Larder's registry, or one of {Codecs}' own, and its options.
          attr_reader :codec, :options

          def declare(registry, name, codec, title, on_request: false, slow: false, **options)
            Class.new(self) do
              @codec = codec.to_s
              @options = options
              named name, title, registry: registry, on_request: on_request, slow_to_start: slow
            end
          end

          def gems = GEMS.to_h { |name| [name, []] }

          # false of no codec at all, which takes no time
          def compared? = codec != "none"
        end

        # A codec has no entries that another process could read.
        declares shared: false

        def initialize(endpoint: nil, **)
          @endpoint = endpoint
        end

        def recorded = { codec: self.class.codec, **self.class.options }

        # Nothing is kept between blocks.
        def clear; end

        # Each block compares its payload with what came back, before it is measured.
        def prove(_values); end
      end

      # Bytes to fewer bytes.
      class Compressor < Row
        def way(_bytes = nil) = @way

        def open
          require_relative "ways"
          @way = Codecs.compressor(self.class.codec, **self.class.options)
          self
        end
      end

      # Values to bytes.
      class Serializer < Row
        def open
          require_relative "ways"
          way([{ "id" => 1 }]) # raises without its gem
          self
        end

        def way(value) = Codecs.serializer(self.class.codec, value, **self.class.options)
      end

      # A serializer with a Redis behind it: lists of records are written there and read, the client's time with the
      # serializer's.
      class Strategy < Serializer
        # Seconds after which a key is gone, whatever happens.
        EXPIRY = 300
        # Answers of the server whose mean is its own time.
        ASKED = 20

        declares server: "redis", shared: true # another process finds the entries there

        def open
          super
          activate("redis-client", [])
          require "redis-client"
          @redis = RedisClient.new(url: @endpoint.fetch("url"))
          connect
          self
        end

        def connect = ask("PING")

        # Deletes what has been written.
        def clear = @names&.each { |name| ask("DEL", key(name)) }

        def write(name, bytes)
          (@names ||= Set.new) << name
          ask("SET", key(name), bytes, "EX", EXPIRY) == "OK"
        end

        def read(name) = ask("GET", key(name))

        # The sizes of a list as the server sees it: "bytes" of the value, as `redis-cli --bigkeys` tells them, "memory"
        # that it takes there, and "answering", seconds of the server for a GET.
        def sizes(name)
          bytes = ask("STRLEN", key(name))
          memory = ask("MEMORY", "USAGE", key(name))
          before = gets
          ASKED.times { read(name) }
          calls, micros = gets.zip(before).map { |after, earlier| after - earlier }
          { "bytes" => bytes, "memory" => memory, "answering" => micros / 1e6 / calls }
        end

        private

        # In a server of the user's several rows are at once.
        def key(name) = "larder-lab:strategy:#{@endpoint["place"]}:#{name}"

        # If the server does not answer, the row is unavailable and not invalid.
        def ask(*command)
          @redis.call(*command)
        rescue RedisClient::Error => error
          raise Unavailable, "the server does not answer: #{error.message}"
        end

        # The calls of GET since the server began, and the microseconds of all.
        def gets
          ask("INFO", "commandstats")[/cmdstat_get:(.*)/, 1].to_s.scan(/\b(?:calls|usec)=(\d+)/).flatten.map(&:to_i)
        end
      end

      # Compressors by the names users type. Levels have rows of their own.
      module Compressors
        extend CLI::Registry
        holds "compressor"

        # The {Way} of that name.
        def self.way(name) = fetch(name).new.open.way

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
