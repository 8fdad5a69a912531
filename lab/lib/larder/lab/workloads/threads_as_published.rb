# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # The published script with several threads, mistake included.
      class ThreadsAsPublished < Workload
        named "threads-as-published", "Threads, as published",
              "Every thread counts from 0, so they share n/threads keys and most calls of pass 1 are hits: not a " \
              "measurement of writing."
        as_published

        private

        def slices(count, threads)
          Array.new(threads) { 0...(count / threads) }
        end
      end
    end
  end
end
