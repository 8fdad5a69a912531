# frozen_string_literal: true

module Larder
  module Lab
    # For classes that measure or wait.
    module Clock
      private

      # @return [Float] seconds that only go forward
      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
