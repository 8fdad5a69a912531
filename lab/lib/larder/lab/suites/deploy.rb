# frozen_string_literal: true

require_relative "shop"

module Larder
  module Lab
    module Suites
      # The first requests of a process, with the cache that it had before a restart and with an emptied one, and later
      # ones. They are for pages of ten fragments, and a few fragments are on many pages.
      module Deploy
        # Requests of a new process, fragments on each page, and fragments of all pages.
        REQUESTS = 50
        FRAGMENTS = 10
        PRODUCTS = 100

        module_function

        # Keeps the application and its pages, whose products begin with that number.
        def prepare(scene, first)
          scene[:application] = Shop::Pages.application(:computed, scene.store)
          scene[:pages] = Array.new(REQUESTS) do |number|
            random = Random.new(number)
            products(first, Array.new(FRAGMENTS) { (PRODUCTS * (random.rand**3)).to_i })
          end
        end

        # Requests pages that have all fragments.
        def fill(scene)
          prepare(scene, 0)
          (0...PRODUCTS).each_slice(FRAGMENTS) { |numbers| right?(scene, *products(0, numbers)) }
        end

        # True if the page is right. The figures get the fragments that were computed.
        def request?(scene, number)
          right?(scene, *scene[:pages][number % REQUESTS]).tap { scene.figures["computed"] = Shop::Pages.computations }
        end

        # True if the page of these products is right.
        def right?(scene, products, html)
          Shop::Pages.products = products
          Shop::Pages.get(scene[:application]) == html
        end

        # The products of a page, and its HTML.
        def products(first, numbers)
          products = numbers.map { |number| Shop::Catalog::PRODUCTS.fetch(first + number) }
          fragments = products.map { |product| Shop::Catalog::HTML.fetch(product.id - 1) }
          [products, "<h1>Products</h1>\n#{fragments.join("\n")}\n\n"]
        end
        private_class_method :right?, :products
      end

      register("deploy", Bench::Suite.define("deploy") do
        title "After a deploy"
        command "deploy", "the first requests after a restart, and with an emptied cache", <<~TEXT
          Measures the first 50 requests of a new process, for pages of ten fragments:
          with the cache that the process before it has filled, and with an emptied one;
          and later requests. A fragment that the cache has not got waits 2 ms for its
          queries. The cache of a store inside the process is empty after a restart. The
          report has the time of a request and how many fragments were computed again.
        TEXT
        question "How long do the first requests of a new process take, and what is computed again?"
        usual { %w[larder redis memcached solid_cache file memory] }
        answers "restart", "emptied", "later"
        preload { Shop.load }

        request = proc { |scene, number| Deploy.request?(scene, number) }
        { restart: [0, "after a restart"], emptied: [Deploy::PRODUCTS, "with an emptied cache"] }
          .each do |key, (first, title)|
          block(key, "first requests #{title}", cold: Deploy::REQUESTS, anywhere: true, unit: "request",
                                                axes: { "first 50 requests" => title }, heading: "a request") do
            load { |scene| Deploy.prepare(scene, first) }
            setup { |scene| Deploy.fill(scene) if first.zero? }
            call(&request)
          end
        end

        block(:later, "later requests", unit: "request", about: "the same pages, again and again",
                                        setup: Deploy.method(:fill), call: request)
      end)
    end
  end
end
