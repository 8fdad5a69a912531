# frozen_string_literal: true

# The table of compressors: name and id of the frame. Each has a file in compressors/, and most use a gem.
#
# To add one: a subclass of Larder::Compressor there with its NAME, `compress(bytes)` and `decompress(body, size)`, a
# row here with an id that was never used, a row in the table of docs/guides/codecs.md. The shared tests
# (test/larder/codecs/) find it by this table.

require "larder/bytes/own_failure"
require "larder/codecs/bounded"
require "larder/codecs/compressor"
require "larder/codecs/errors"
require "larder/codecs/frame"
require "larder/codecs/optional_gems"
require "larder/codecs/options"
require "larder/codecs/registry"

module Larder
  # Makes bytes smaller, for the `compressor:` of any ActiveSupport::Cache store: `Larder::Compressors::Zstd.new`.
  module Compressors
    TABLE = { gzip: 0xA1, brotli: 0xA2, zstd: 0xA3, snappy: 0xA4, lz4: 0xA5, lz4_flex: 0xA6 }.freeze
    REGISTRY = Codecs::Registry.new("compressor", self, TABLE)

    # A compressor by its name.
    #
    # @param name [Symbol, String] one of `names`
    # @param options [Hash] of its constructor: `max_bytes:`, `checksum:`, and its own, as `level:`
    # @return [Larder::Compressor] has `deflate` and `inflate`
    # @raise [ArgumentError] an unknown name or option; the message names those that there are
    # @raise [Larder::MissingGemError]
    # @example
    #   Larder::Compressors.lookup(:zstd, level: 3) # as Larder::Compressors::Zstd.new(level: 3)
    def self.lookup(name, **options)
      codec = REGISTRY.find(name)
      Codecs::Options.build(codec, "compressor #{codec::NAME.inspect}", options, also: Compressor::FRAMING)
    end

    # @return [Array<Symbol>]
    def self.names
      REGISTRY.names
    end
  end
end
