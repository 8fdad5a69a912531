# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Values that need a serializer: a Hash such as an application caches in place of a record.
      class Hashes < Workload
        WRITE = Pass.new(key: "write", title: "write of a Hash", reading: false, clears: true).freeze
        READ = Pass.new(key: "read", title: "read of a Hash, a hit", reading: true, clears: false, fills: :block).freeze

        # What every key holds, but for its id.
        VALUE = { name: "Teapot", price: 19.5, tags: ["kitchen", "tea"], available: true, seller: nil }.freeze

        named "hashes", "Values that are Hashes, one thread", "Rails.cache.write and .read of a Hash of six entries."
        only_on_request

        # @return [Array<Pass>]
        def self.passes
          [WRITE, READ]
        end

        # @return [Block]
        def run(pass, laps)
          super.tap { |block| block.wrong ||= read(contender.store, @slices.first) if keeps? && pass.key == WRITE.key }
        end

        private

        def slices(count, _threads)
          [0...count]
        end

        def fill
          write(contender.store, @slices.first)
        end

        def visit(store, keys, pass)
          return [0, read(store, keys)] if pass.key == READ.key

          write(store, keys)
          [0, nil]
        end

        def write(store, keys)
          keys.each { |i| store.write(["key", i], value(i), expires_in: 5.minutes) }
        end

        def read(store, keys)
          wrong = nil
          keys.each do |i|
            found = store.read(["key", i])
            wrong ||= [i, found, value(i)] unless keeps? ? found == value(i) : found.nil?
          end
          wrong
        end

        def value(number)
          { id: number, **VALUE }
        end
      end
    end
  end
end
