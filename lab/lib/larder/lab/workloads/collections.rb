# frozen_string_literal: true

require_relative "shop/product"
require_relative "write_then_read"

module Larder
  module Lab
    module Workloads
      # 50 fragments a call, as `render collection, cached: true` reads and writes them.
      class Collections < WriteThenRead
        # Keys of one call.
        KEYS = 50
        HTML = Shop.html(2048)

        WRITE = write_pass("write_multi", "write_multi of #{KEYS} fragments")
        READ = read_pass("read_multi", "read_multi of #{KEYS} fragments")
        FETCH = Pass.new(key: "fetch_multi", title: "fetch_multi of #{KEYS} records, all hits", reading: true,
                         clears: false, fills: :block).freeze

        named "collections", "#{KEYS} fragments a call, one thread",
              "Rails.cache.write_multi, read_multi and fetch_multi of 2 KB of HTML under keys with a record."
        only_on_request

        # @return [Array<Pass>]
        def self.passes
          [WRITE, READ, FETCH]
        end

        private

        # A call is for many keys.
        def own_seconds(_pass); end

        def slices(count, _threads)
          products = Array.new([count / KEYS, 1].max * KEYS) { |id| Shop::Product.new(id) }
          @names = products.each_slice(KEYS).map { |some| some.map { |product| [:views, Shop::TEMPLATE, product] } }
          @products = products.each_slice(KEYS).to_a
          [@names]
        end

        def fill
          write(contender.store, @names)
          @products.each { |some| contender.store.write_multi(some.to_h { |product| [product, HTML] }) }
        end

        def visit(store, batches, pass)
          pass == FETCH ? [0, fetch(store)] : super
        end

        def write(store, batches)
          batches.each { |names| store.write_multi(names.to_h { |name| [name, HTML] }) }
        end

        def read(store, batches)
          first_wrong(batches) { |names| store.read_multi(*names) }
        end

        def fetch(store)
          first_wrong(@products) { |products| store.fetch_multi(*products) { HTML } }
        end

        def first_wrong(batches)
          wrong = nil
          batches.each_with_index do |names, i|
            found = yield names
            wrong ||= [i, found.values.find { |value| value != HTML }, HTML] unless right?(found, names)
          end
          wrong
        end

        # In the timing by size: comparing 50 values is not the store's.
        def right?(found, names)
          return found.empty? || found[names.first] == HTML unless keeps?

          found.size == names.size && found[names.last] == HTML
        end

        # Asking the records, and values made anew.
        def floor(batches, pass)
          batches.each do |names|
            names.each { |_, _, product| product.cache_key && product.cache_version }
            pass == WRITE ? names.each { Shop.copy(HTML) } : names.to_h { |name| [name, Shop.copy(HTML)] }
          end
        end
      end
    end
  end
end
