# frozen_string_literal: true

module Larder
  module Lab
    module Suites
      # Records, pages and text of a shop, and what blocks do with them. Records and pages are loaded when a block first
      # needs them.
      module Shop
        autoload :Catalog, File.expand_path("shop/catalog", __dir__)
        autoload :Pages, File.expand_path("shop/pages", __dir__)

        # The first part of a fragment's key, as Action View makes it: the template with the digest of its source.
        TEMPLATE = "shop/_product:5f8a4a3e1c7d2b9f0e6a8c4d1b3f7e92"
        # Records and documents of a block.
        SOME = 50
        # Events of the cache, as monitoring subscribes to them.
        EVENTS = /\Acache_.*\.active_support\z/

        module_function

        # Loads records, text and the code of pages, and compiles their templates.
        def load
          Catalog.itself
          Pages.compile
        rescue Unavailable
          nil # each block that needs it says so
        end

        # Keeps the application with this page, and the HTML that it has without a cache.
        def open_page(scene, page)
          scene[:html] = Pages.get(Pages.application(page, ActiveSupport::Cache::NullStore.new))
          scene[:application] = Pages.application(page, scene.store)
        end

        def page?(scene) = Pages.get(scene[:application]) == scene[:html]

        def write_fragments(scene)
          scene.store.write_multi((0...Catalog::SIZE).to_h { |number| [key(number), html(number)] })
        end

        def key(number) = [:views, TEMPLATE, Catalog::PRODUCTS[number % Catalog::SIZE]]

        # The fragment under that key.
        def html(number) = Catalog::HTML[number % Catalog::SIZE]

        def write_records(scene)
          Catalog::PRODUCTS.first(SOME).each { |product| scene.store.write("product/#{product.id}", product) }
        end

        def write_documents(scene)
          scene[:documents] = Array.new(SOME) { |number| JSON.generate(Text.document(number, 5000)) }
          scene[:documents].each_with_index { |json, number| scene.store.write("orders/#{number}.json", json) }
        end

        # Setup and teardown of a block whose calls have a subscriber to all events of the cache.
        def monitored(setup)
          subscribe = lambda do |scene|
            setup.call(scene)
            scene[:subscriber] = ActiveSupport::Notifications.subscribe(EVENTS) { |_event| nil }
          end
          { setup: subscribe, teardown: ->(scene) { ActiveSupport::Notifications.unsubscribe(scene[:subscriber]) } }
        end

        # The HTML and JSON that suites cache, by a seed: different for each record, and as compressible as real pages
        # are. zlib compresses 2 KB of the HTML 2.6 times, 5 KB 3.2 and 20 KB 3.9 times.
        module Text
          SYLLABLES = %w[ka ri sto mel ben tor a li no ver gra pel sun dor mi ek lan tu fi ras ho wen zel qui].freeze
          WORDS = Random.new(11).then do |random|
            Array.new(900) { Array.new(random.rand(1..4)) { SYLLABLES.sample(random: random) }.join }.uniq.freeze
          end

          module_function

          # HTML of one article, of about this many bytes.
          def html(id, bytes)
            random = Random.new(id)
            text = "<article class=\"product\" id=\"product_#{id}\">\n" \
                   "<h2><a href=\"/products/#{id}\">#{title(random)}</a></h2>\n"
            text << paragraph(random) while text.bytesize < bytes
            text << "</article>\n"
          end

          # A document that an API answers as JSON, of about this many bytes.
          def document(id, bytes)
            random = Random.new(id)
            items = []
            items << item(random) while items.size * 150 < bytes
            { id: id, type: "order", number: hex(random, 6), total_cents: random.rand(100_000), items: items }
          end

          def paragraph(random)
            price = format("%d.%02d", random.rand(200), random.rand(100))
            "<p class=\"description\">#{words(random, 24)} <em>#{words(random, 3)}</em>.</p>\n" \
              "<img src=\"/assets/products/#{hex(random, 8)}.jpg\" alt=\"#{words(random, 2)}\" width=\"320\">\n" \
              "<span class=\"price\" data-currency=\"EUR\">#{price}</span>\n"
          end

          def item(random)
            { sku: hex(random, 4), name: title(random), quantity: random.rand(1..9), price_cents: random.rand(20_000),
              available: random.rand(2) == 1, note: words(random, 5) }
          end

          def hex(random, bytes) = random.bytes(bytes).unpack1("H*")

          def title(random) = words(random, 3).capitalize

          # Few words are frequent, as in any language.
          def words(random, count) = Array.new(count) { WORDS[(WORDS.size * (random.rand**3)).to_i] }.join(" ")
          private_class_method :paragraph, :item, :hex, :title, :words
        end
      end
    end
  end
end
