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

        block(:page, "page of ten fragments", unit: "request", about: "`cache product do` ten times, 2 KB each") do
          setup { |scene| Shop.open_page(scene, :ten) }
          call { |scene, _| Shop.page?(scene) }
        end

        block(:index, "index of 50 fragments", unit: "request", about: "`render collection, cached: true`") do
          setup { |scene| Shop.open_page(scene, :index) }
          call { |scene, _| Shop.page?(scene) }
        end

        block(:fragment, "read of a fragment", about: "2 KB of HTML; the key holds a template and a record") do
          setup { |scene| Shop.write_fragments(scene) }
          call { |scene, i| scene.store.read(Shop.key(i)) == Shop.html(i) }
        end

        block(:monitored, "read of a fragment, monitored", about: "with a subscriber to all events of the cache") do
          setup do |scene|
            Shop.write_fragments(scene)
            scene[:subscriber] = ActiveSupport::Notifications.subscribe(/\Acache_.*\.active_support\z/) { |_event| nil }
          end
          call { |scene, i| scene.store.read(Shop.key(i)) == Shop.html(i) }
          teardown { |scene| ActiveSupport::Notifications.unsubscribe(scene[:subscriber]) }
        end

        block(:fragment_write, "write of a fragment", about: "2 KB of HTML; the key holds a template and a record") do
          setup { |scene| Shop.write_fragments(scene) }
          call { |scene, i| scene.store.write(Shop.key(i), Shop.html(i)) ? true : false }
        end

        block(:record, "read of a record", about: "an Active Record object with its association") do
          setup { |scene| Shop.write_records(scene) }
          call { |scene, i| scene.store.read("product/#{(i % Shop::SOME) + 1}")&.id == (i % Shop::SOME) + 1 }
        end

        block(:record_write, "write of a record", about: "an Active Record object with its association") do
          setup { |scene| Shop.write_records(scene) }
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

        block(:json, "fetch of a JSON document", about: "5 KB, as an API answers it, with expires_in:") do
          setup { |scene| Shop.write_documents(scene) }
          call do |scene, i|
            number = i % Shop::SOME
            scene.store.fetch("orders/#{number}.json", expires_in: 300) { "missed" } == scene[:documents][number]
          end
        end

        block(:counter, "increment of a counter", about: "as `rate_limit` counts requests") do
          call { |scene, i| scene.store.increment("limit/#{i % Shop::SOME}", 1, expires_in: 300) ? true : false }
        end

        block(:cold, "first reads of a process", cold: 50, about: "fragments that another process has stored") do
          load { Shop.html(0) && Shop.key(0).last.cache_key_with_version }
          setup { |scene| Shop.write_fragments(scene) }
          call { |scene, i| scene.store.read(Shop.key(i)) == Shop.html(i) }
        end
      end)
    end
  end
end
