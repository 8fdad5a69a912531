# frozen_string_literal: true

require_relative "../shop/pages"

module Larder
  module Lab
    module Suites
      module Deploy
        # Pages of the shop whose fragments are computed if the cache has not got them.
        class Pages < Shop::Pages
          # Seconds that a computation waits for its queries.
          QUERIES = 0.002

          class << self
            # Fragments that this process has computed.
            attr_accessor :computations
            # Products of the next page.
            attr_accessor :products

            # True if the page of these products is right.
            def page?(application, products, html)
              self.products = products
              get(application) == html
            end
          end
          self.computations = 0
          self.products = []

          helper do
            def compute
              Pages.computations += 1
              sleep Pages::QUERIES
            end
          end

          def computed
            @products = Pages.products
            render "shop/computed"
          end
        end
      end
    end
  end
end
