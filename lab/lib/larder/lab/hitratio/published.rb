# frozen_string_literal: true

module Larder
  module Lab
    module Hitratio
      # The published misses of a trace of block storage, and the published finding about loops. The lab measured
      # neither.
      module Published
        TRACE = "cloudPhysicsIO.oracleGeneral.bin"
        # The trace is known by them, whatever its file is called.
        REQUESTS = 113_872
        # Sizes of the cache, as they are typed, with their bytes.
        SIZES = { "512MiB" => 512 << 20, "1GiB" => 1024 << 20 }.freeze
        # policy => its published name, and its misses at each size
        ROWS = { "lru" => ["LRU", 81_722, 71_704], "s3fifo" => ["S3-FIFO", 76_791, 70_355],
                 "arc" => ["ARC", 74_297, 64_772], "lirs" => ["LIRS", 70_363, 53_924],
                 "belady" => ["Belady", 61_594, 48_974] }.freeze
        # The policies of the finding about loops, the better one first, and the trace it is measured on.
        LOOPS = ["Loops are hard for policies by recency: LIRS misses less often than LRU", "lirs", "lru"].freeze
        LOOP = /\A(loop|lirs-)/

        module_function

        # @return [Boolean] was something published of it?
        def of?(trace) = !trace.sizes.nil? && trace.requests.size == REQUESTS

        # @return [Boolean] was something published of this trace at this size?
        def row?(row) = SIZES.value?(row.capacity) && row.requests == REQUESTS && !row.object_bytes

        # @param capacity [Integer] one of the sizes
        # @return [Integer, nil] misses
        def misses(policy, capacity) = ROWS.fetch(policy, [])[1 + SIZES.values.index(capacity)]
      end
    end
  end
end
