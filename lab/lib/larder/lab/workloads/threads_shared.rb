# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Keys that all threads want, without the published form's lockstep: each thread starts at another one.
      class ThreadsShared < Workload
        named "threads-shared", "Threads, sharing their keys",
              "Corrected: n/threads keys for all, each thread starts at another one. Pass 1 is one miss in about as " \
              "many calls as there are threads."

        private

        def slices(count, threads)
          keys = (0...(count / threads)).to_a
          Array.new(threads) { |thread| keys.rotate(thread * keys.size / threads) }
        end
      end
    end
  end
end
