# frozen_string_literal: true

# The figures of the published comparisons of compressors, serializers and strategies, to be shown beside one's own.
# None was measured by the lab.

module Larder
  module Lab
    module Trials
      # Facts of the articles.
      module Published
        # Of compressors and serializers.
        SOURCE = "measured elsewhere: Ruby 3.3.4, one marshalled Book.all.to_a of 1,023,931 bytes"
        # Of strategies.
        STRATEGIES_SOURCE = "measured elsewhere, in another language; of first calls"
        # What was compressed.
        RAW_BYTES = 1_023_931

        # name => [as the article has it, bytes, compressions a second]. The article does not say Brotli's quality; at
        # 11, the default, a megabyte takes seconds, so that it is seen beside 5.
        COMPRESSORS = { "none" => ["none", 1_023_931, nil], "snappy" => ["Snappy", 895_496, 3086.8],
                        "lz4_flex" => ["LZ4Flex", 878_160, 1959.3], "lz4" => ["LZ4", 879_179, 1101.4],
                        "zstd-3" => ["Zstd", 587_085, 278.5], "brotli-5" => ["Brotli", 577_629, 35.9],
                        "gzip-6" => ["Gzip", nil, 35.0] }.freeze

        # name => [as the article has it, round trips a second, serializations a second]
        SERIALIZERS = { "message_pack" => ["MessagePack", 78.0, 155.6], "marshal" => ["Marshal", 63.0, 114.6],
                        "active_support_json" => ["AS::JSON", 61.5, 76.3], "json" => ["JSON", 61.4, 74.8] }.freeze

        # records => name => [read ms, write ms, MB]
        STRATEGIES = {
          50_000 => { "binary" => [498, 410, 4.9], "xml" => [311, 792, 9.8], "json" => [174, 446, 6.6],
                      "protobuf" => [88, 373, 3.5] },
          50 => { "binary" => [6, 16, nil], "xml" => [13, 65, nil], "json" => [8, 47, nil],
                  "protobuf" => [15, 174, nil] }
        }.freeze
      end
    end
  end
end
