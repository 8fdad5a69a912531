# frozen_string_literal: true

# The published misses of a trace that can be replayed here. None of them was measured by the lab.

module Larder
  module Lab
    module Hitratio
      # The published misses of one trace of block storage.
      module Published
        # By which the trace is known, whatever its file is called.
        REQUESTS = 113_872
        # name of the policy => misses in a cache of 512 and of 1,024 MiB
        MISSES = { "lru" => [81_722, 71_704], "s3fifo" => [76_791, 70_355], "arc" => [74_297, 64_772],
                   "lirs" => [70_363, 53_924], "belady" => [61_594, 48_974] }.freeze
        # Bytes of the caches.
        CAPACITIES = [512 << 20, 1024 << 20].freeze
        # As they are typed.
        SIZES = %w[512MiB 1GiB].freeze

        module_function

        # @param trace [Trace]
        # @return [Boolean] was something published of it?
        def of?(trace)
          !trace.sizes.nil? && trace.requests.size == REQUESTS
        end

        # @param row [Row]
        # @return [Hash{String=>Integer}, nil] misses by policy
        def misses(row)
          at = CAPACITIES.index(row.capacity)
          MISSES.transform_values { |misses| misses[at] } if at && row.requests == REQUESTS && !row.object_bytes
        end
      end
    end
  end
end
