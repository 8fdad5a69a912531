# frozen_string_literal: true

# The table of compressors: name and id of the frame. Each is a file of lib/larder/compressors/ over a well-kept gem.
#
# To add one: a class there with `deflate(bytes)` and `inflate(body, size)`, a row here with an id that was never used,
# a row in the table of README.md. The shared tests (test/larder/codecs/) find it by this table.

module Larder
  # Makes bytes smaller, for the `compressor:` of any ActiveSupport::Cache store.
  module Compressors
    TABLE = { gzip: 0xA1, brotli: 0xA2, zstd: 0xA3, snappy: 0xA4, lz4: 0xA5, lz4_flex: 0xA6 }.freeze
    REGISTRY = Codecs::Registry.new("compressor", self, TABLE)

    # @param name [Symbol, String] one of `names`
    # @param options [Hash] `max_bytes:` and those of the compressor itself, as `level:`
    # @return [Larder::Compressor] has `deflate` and `inflate`
    # @raise [ArgumentError] an unknown name or option; the message names those that there are
    # @raise [Larder::MissingGemError]
    # @example
    #   config.cache_store = :redis_cache_store, { compressor: Larder::Compressors[:zstd, level: 3] }
    def self.[](name, **options)
      Compressor.new(name, **options)
    end

    # @return [Array<Symbol>]
    def self.names
      REGISTRY.names
    end
  end
end
