# frozen_string_literal: true

require_relative "shop/product"

module Larder
  module Lab
    module Workloads
      # HTML and JSON of the sizes that applications cache.
      class Strings < Workload
        KILOBYTES = [2, 10, 20, 100].freeze
        # Bytes of one lap's keys at most: a quarter of what the stores have room for.
        MOST_BYTES = 64 << 20
        WRITES, READS = ["write", "read"].map do |kind|
          KILOBYTES.to_h do |size|
            pass = Pass.new(key: "#{kind}-#{size}k", title: "#{kind} of #{size} KB", reading: kind == "read",
                            clears: kind == "write", fills: (:block if kind == "read"))
            [pass.freeze, size]
          end.freeze
        end

        named "strings", "Strings of #{KILOBYTES.join(", ")} KB, one thread",
              "Rails.cache.write and .read of HTML."
        only_on_request

        # @return [Array<Pass>]
        def self.passes
          [*WRITES.keys, *READS.keys]
        end

        private

        def slices(count, _threads)
          @texts = KILOBYTES.to_h { |size| [size, Shop.html(size << 10)] }
          keys = 0...[count, MOST_BYTES / (KILOBYTES.last << 10)].min
          @places = @texts.transform_values { |text| keys.map { Shop.copy(text) } }
          [keys]
        end

        def fill
          @texts.each { |size, text| write(contender.store, @slices.first, size, text) }
        end

        def visit(store, keys, pass)
          size = WRITES[pass] || READS.fetch(pass)
          text = @texts.fetch(size)
          return [0, first_wrong(keys, text) { |i| store.read([size, i]) }] if pass.reading

          write(store, keys, size, text)
          [0, nil]
        end

        def write(store, keys, size, text)
          keys.each { |i| store.write([size, i], text) }
        end

        def first_wrong(keys, text)
          bytes = text.bytesize if keeps?
          wrong = nil
          keys.each do |i|
            found = yield i
            wrong ||= [i, found, text] unless found&.bytesize == bytes
          end
          wrong
        end

        def visit_nothing(pass)
          text = @texts.each_value.first
          pass.reading ? first_wrong(0...OWN_CALLS, text) { text } : OWN_CALLS.times { |_| text }
        end

        # Allocating and copying; what is read, from a place of its own, as in a store.
        def floor(keys, pass)
          if pass.reading
            places = @places.fetch(READS.fetch(pass))
            first_wrong(keys, places.first) { |i| Shop.copy(places[i]) }
          else
            text = @texts.fetch(WRITES.fetch(pass))
            keys.each { |_| Shop.copy(text) }
          end
        end
      end
    end
  end
end
