# frozen_string_literal: true

require_relative "one_queue"

module Larder
  module Lab
    module Hitratio
      module Policies
        # What was not asked for the longest leaves.
        class Lru < OneQueue
          Policies.register("lru", self)

          private

          def hit(object)
            @queue.renew(object)
          end
        end
      end
    end
  end
end
