# frozen_string_literal: true

module Larder
  module Lab
    module Suites
      # Records, text and pages of a shop, each loaded when a block first needs it, and what blocks do with them.
      module Shop
        autoload :Catalog, File.expand_path("shop/catalog", __dir__)
        autoload :Pages, File.expand_path("shop/pages", __dir__)
        autoload :Text, File.expand_path("shop/text", __dir__)

        # The first part of a fragment's key, as Action View makes it: the template with the digest of its source.
        TEMPLATE = "shop/_product:5f8a4a3e1c7d2b9f0e6a8c4d1b3f7e92"
        # Records and documents of a block.
        SOME = 50
        # The bytes of a JSON document.
        DOCUMENT = 5000

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
          scene[:documents] = Array.new(SOME) { |number| JSON.generate(Text.document(number, DOCUMENT)) }
          scene[:documents].each_with_index { |json, number| scene.store.write("orders/#{number}.json", json) }
        end
      end
    end
  end
end
