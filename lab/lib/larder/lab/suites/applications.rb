# frozen_string_literal: true

# Declares the blocks that resemble applications: pages, fragments, records, JSON, counters.

require_relative "shop"
require_relative "../contenders"

module Larder
  module Lab
    module Suites
      register("applications", Bench::Suite.define("applications") do
        title "Caches in Rails applications"
        command "applications", "time of pages, fragments, records, JSON and counters on every store", <<~TEXT
          Measures what Rails applications do with a cache, on every store: whole requests
          for pages of cached fragments, fragments whose keys hold Active Record objects,
          records, JSON, counters, and the first reads of a process.
        TEXT
        answers "page", "fragment", "json"
        usual { [*Contenders.usual.reject { |name| Contenders.fetch(name).slow_to_start? }, "larder-redis"] }
        preload { Shop.load }
        question "How long does a cache take in what Rails applications do?"

        html = "2 KB of HTML; the key holds a template and a record"
        model = "an Active Record object with its association"
        fragments = Shop.method(:write_fragments)
        records = Shop.method(:write_records)
        read = proc { |scene, i| scene.store.read(Shop.key(i)) == Shop.html(i) }

        { page: ["page of ten fragments", :ten, "`cache product do` ten times, 2 KB each"],
          index: ["index of 50 fragments", :index, "`render collection, cached: true`"] }
          .each do |key, (title, page, about)|
          block(key, title, unit: "request", about: about) do
            setup { |scene| Shop.open_page(scene, page) }
            call { |scene, _| Shop.page?(scene) }
          end
        end

        block(:fragment, "read of a fragment", about: html, setup: fragments, call: read)

        block(:monitored, "read of a fragment, monitored", about: "with a subscriber to all events of the cache",
                                                           call: read, **Shop.monitored(fragments))

        block(:fragment_write, "write of a fragment", about: html, setup: fragments) do
          call { |scene, i| scene.store.write(Shop.key(i), Shop.html(i)) ? true : false }
        end

        block(:record, "read of a record", about: model, setup: records) do
          call { |scene, i| scene.store.read("product/#{(i % Shop::SOME) + 1}")&.id == (i % Shop::SOME) + 1 }
        end

        block(:record_write, "write of a record", about: model, setup: records) do
          call do |scene, i|
            product = Shop::Catalog::PRODUCTS[i % Shop::SOME]
            scene.store.write("product/#{product.id}", product) ? true : false
          end
        end

        block(:records_write, "write of 25 records", about: "in one entry, each with its association") do
          setup { |scene| scene[:lists] = Shop::Catalog::PRODUCTS.each_slice(25).to_a }
          call do |scene, i|
            number = i % scene[:lists].size
            scene.store.write("products/#{number}", scene[:lists][number]) ? true : false
          end
        end

        block(:json, "fetch of a JSON document", about: "5 KB, as an API answers it, with expires_in:",
                                                 setup: Shop.method(:write_documents)) do
          call do |scene, i|
            number = i % Shop::SOME
            scene.store.fetch("orders/#{number}.json", expires_in: 300) { "missed" } == scene[:documents][number]
          end
        end

        block(:counter, "increment of a counter", about: "as `rate_limit` counts requests") do
          call { |scene, i| scene.store.increment("limit/#{i % Shop::SOME}", 1, expires_in: 300) ? true : false }
        end

        block(:cold, "first reads of a process", cold: 50, about: "fragments that another process has stored",
                                                 setup: fragments, call: read) do
          load { Shop.html(0) && Shop.key(0).last.cache_key_with_version }
        end
      end)
    end
  end
end
