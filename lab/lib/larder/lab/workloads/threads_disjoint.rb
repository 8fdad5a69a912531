# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # The corrected form: no two threads use the same key, so pass 1 is all misses.
      class ThreadsDisjoint < Workload
        named "threads-disjoint", "Threads, each with keys of its own",
              "Corrected: n different keys, every call of pass 1 is a miss."

        private

        def slices(count, threads)
          each = count / threads
          Array.new(threads) { |thread| (thread * each)...((thread + 1) * each) }
        end
      end
    end
  end
end
