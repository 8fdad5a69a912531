# frozen_string_literal: true

require_relative "shop/product"
require_relative "write_then_read"

module Larder
  module Lab
    module Workloads
      # Fragments of views as `cache product do` reads and writes them: a key with the template's digest and a record,
      # whose version is its time of change, and 2 KB of HTML.
      class Fragments < WriteThenRead
        WRITE = write_pass("write", "write of a fragment")
        READ = read_pass("read", "read of a fragment, a hit")

        HTML = Shop.html(2048)

        named "fragments", "Fragments of views, one thread",
              "Rails.cache.write and .read of 2 KB of HTML under the key of a fragment: a template and a record with " \
              "a version."

        private

        def slices(count, _threads)
          @products = Array.new(count) { |id| Shop::Product.new(id) }
          [0...count]
        end

        def name_of(number)
          [:views, Shop::TEMPLATE, @products[number]]
        end

        def write(store, keys)
          keys.each { |i| store.write(name_of(i), value(i)) }
        end

        def read(store, keys)
          wrong = nil
          keys.each do |i|
            found = store.read(name_of(i))
            wrong ||= [i, found, value(i)] unless keeps? ? found == value(i) : found.nil?
          end
          wrong
        end

        def value(_number)
          HTML
        end

        # Asking the record, and the value made anew.
        def floor(keys, _pass)
          keys.each { |i| @products[i].cache_key && @products[i].cache_version && Shop.copy(HTML) }
        end
      end
    end
  end
end
