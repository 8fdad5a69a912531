# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # The published script with one thread.
      class OneThread < Workload
        named "one-thread", "One thread", "As published: n keys, first all missing, then all there."
        as_published

        private

        def slices(count, _threads)
          [0...count]
        end
      end
    end
  end
end
