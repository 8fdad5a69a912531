# frozen_string_literal: true

# Declares the first requests of a process: with the cache that it had before a restart, and with an emptied one; and
# later ones.

require_relative "shop"

module Larder
  module Lab
    module Suites
      # Requests for pages of ten fragments. A few fragments are on many pages.
      module Deploy
        autoload :Pages, File.expand_path("deploy/pages", __dir__)

        # Requests of a new process, fragments on each page, and fragments of all pages.
        REQUESTS = 50
        FRAGMENTS = 10
        PRODUCTS = 100
        # Seconds that a fragment waits for its queries, if the cache has not got it.
        QUERIES = 0.002

        module_function

        # @param scene [Bench::Scene] keeps the application
        # @param first [Integer] number of the first product that may be on a page
        # @return [void]
        def open(scene, first)
          scene[:first] = first
          scene[:application] = Pages.application(:computed, scene.store)
        end

        # Requests pages that have all fragments.
        # @param scene [Bench::Scene] after {.open}
        # @return [void]
        def fill(scene)
          (0...PRODUCTS).each_slice(FRAGMENTS) { |numbers| page?(scene, numbers) }
        end

        # @param scene [Bench::Scene] after {.open}; its figures get the fragments that were computed
        # @param number [Integer] of the request
        # @return [Boolean] whether its page is right
        def request?(scene, number)
          random = Random.new(number)
          right = page?(scene, Array.new(FRAGMENTS) { (PRODUCTS * (random.rand**3)).to_i })
          scene.figures["computed"] = Pages.computations
          right
        end

        def page?(scene, numbers)
          products = numbers.map { |number| Shop::Catalog::PRODUCTS.fetch(scene[:first] + number) }
          Pages.products = products
          Pages.get(scene[:application]).delete("\n") == "<h1>Products</h1>#{html(products)}"
        end

        def html(products)
          products.map { |product| Shop::Catalog::HTML.fetch(product.id - 1) }.join.delete("\n")
        end
        private_class_method :page?, :html
      end

      register("deploy", Bench::Suite.define("deploy") do
        title "After a deploy"
        command "deploy", "the first requests after a restart, and with an emptied cache", <<~TEXT
          Measures the first 50 requests of a new process, for pages of ten fragments: with
          the cache that the process before it has filled, and with an emptied one; and
          later requests. A fragment that the cache has not got waits 2 ms for its
          queries. The cache of a store inside the process is empty after a restart. The
          report has the time of a request and how many fragments were computed again.
        TEXT
        chapter { SuiteReport::DeployChapter }
        question "How long do the first requests of a new process take, and what is computed again?"
        usual "larder", "redis", "memcached", "solid_cache", "file", "memory"
        answers :restart, :emptied, :later
        preload do
          Shop.load
          Deploy::Pages.compile
        rescue Unavailable
          nil # its Gemfile lacks something; the row says so
        end

        { restart: [0, "after a restart", "a process of the former release has stored all fragments"],
          emptied: [Deploy::PRODUCTS, "with an emptied cache", "none of its fragments is stored"] }
          .each do |key, (first, title, about)|
          block(key, "first requests #{title}", unit: "request", about: about,
                                                cold: Deploy::REQUESTS, anywhere: true) do
            load { |scene| Deploy.open(scene, first) }
            setup { |scene| Deploy.open(scene, first).then { Deploy.fill(scene) if first.zero? } }
            call { |scene, number| Deploy.request?(scene, number) }
          end
        end

        block(:later, "later requests", unit: "request", about: "the same pages, again and again") do
          setup { |scene| Deploy.open(scene, 0).then { Deploy.fill(scene) } }
          call { |scene, number| Deploy.request?(scene, number % Deploy::REQUESTS) }
        end
      end)
    end
  end
end
