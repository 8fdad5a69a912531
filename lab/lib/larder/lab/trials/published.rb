# frozen_string_literal: true

# Owns what the published comparisons of compressors and serializers found, to be set beside one's own measurement. None
# of it was measured by the lab.

module Larder
  module Lab
    module Trials
      # Facts of the articles.
      module Published
        SOURCE = "measured elsewhere: Ruby 3.3.4, one marshalled Book.all.to_a of 1,023,931 bytes"
        RAW_BYTES = 1_023_931

        # name => [bytes, compressions a second]
        COMPRESSORS = { "none" => [1_023_931, nil], "snappy" => [895_496, 3086.8], "lz4_flex" => [878_160, 1959.3],
                        "lz4" => [879_179, 1101.4], "zstd-3" => [587_085, 278.5], "brotli-11" => [577_629, 35.9],
                        "gzip-6" => [nil, 35.0] }.freeze

        # name => [round trips a second, serializations a second]
        SERIALIZERS = { "message_pack" => [78.0, 155.6], "marshal" => [63.0, 114.6],
                        "active_support_json" => [61.5, 76.3], "json" => [61.4, 74.8] }.freeze
      end
    end
  end
end
