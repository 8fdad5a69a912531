# frozen_string_literal: true

require_relative "../shop/pages"

module Larder
  module Lab
    module Suites
      module Deploy
        # Pages of the shop whose fragments are computed if the cache has not got them.
        class Pages < Shop::Pages
          class << self
            # @return [Array<Shop::Product>] on the next page
            attr_accessor :products

            # @return [Integer] fragments that this process has computed
            attr_accessor :computations
          end
          self.computations = 0
          self.products = []

          helper do
            # Waits as for queries.
            # @return [void]
            def compute
              Pages.computations += 1
              sleep QUERIES
            end
          end

          # @return [void]
          def computed
            @products = Pages.products
            render "shop/computed"
          end
        end
      end
    end
  end
end
