# frozen_string_literal: true

require_relative "one_queue"

module Larder
  module Lab
    module Hitratio
      module Policies
        # What was stored the longest ago leaves.
        class Fifo < OneQueue
          Policies.register("fifo", self)

          private

          def hit(object); end
        end
      end
    end
  end
end
