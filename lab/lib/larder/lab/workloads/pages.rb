# frozen_string_literal: true

require_relative "shop/product"
require_relative "shop/store_at_once"

module Larder
  module Lab
    module Workloads
      # Whole requests of a Rails controller whose views cache fragments.
      class Pages < Workload
        # Requests are as much work as so many calls of the published one.
        CALLS_A_REQUEST = 100
        # Least requests before the clock starts. An application is warm: YJIT has compiled what was called 30 times.
        WARM_UP = 40
        ACTIONS = { Pass.new(key: "ten", title: "page of ten fragments", reading: true, clears: false,
                             fills: :block).freeze => :ten,
                    Pass.new(key: "index", title: "index of 50, one read_multi", reading: true, clears: false,
                             fills: :block).freeze => :index }.freeze

        named "pages", "Pages of cached fragments, one thread",
              "Whole requests of a controller: `cache product do` ten times, and `render collection, cached: true` " \
              "of 50, with fragments of 2 KB that are there, after #{WARM_UP} requests or more that do not count."

        # @return [Array<Pass>]
        def self.passes
          ACTIONS.keys
        end

        # @return [Boolean]
        def self.requests?
          true
        end

        private

        def warm_laps(laps)
          [super, WARM_UP.fdiv(@slices.first.size).ceil].max
        end

        def slices(count, _threads)
          require_relative "shop/controller"
          @applications = ACTIONS.each_value.to_h { |page| [page, Shop::Controller.application(page)] }
          @pages = ACTIONS.each_value.to_h { |page| [page, rendered(page, ActiveSupport::Cache::NullStore.new)] }
          [0...(count / CALLS_A_REQUEST).clamp(1, 1000)]
        end

        # @return [String] HTML
        def rendered(page, store)
          Shop::Controller.use(store)
          Shop::Controller.get(@applications.fetch(page))
        end

        def fill
          @at_once = Shop::StoreAtOnce.new
          [contender.store, @at_once].product(ACTIONS.values) { |store, page| rendered(page, store) }
        end

        def visit(store, requests, pass)
          get(requests, ACTIONS.fetch(pass), store)
        end

        # The same with a store that answers at once.
        def floor(requests, pass)
          get(requests, ACTIONS.fetch(pass), @at_once)
        end

        def get(requests, page, store)
          Shop::Controller.use(store)
          application = @applications.fetch(page)
          expected = @pages.fetch(page)
          wrong = nil
          requests.each do |i|
            body = Shop::Controller.get(application)
            wrong ||= [i, body, expected] unless body.bytesize == expected.bytesize
          end
          [0, wrong]
        end
      end
    end
  end
end
