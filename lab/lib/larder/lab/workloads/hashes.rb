# frozen_string_literal: true

require_relative "write_then_read"

module Larder
  module Lab
    module Workloads
      # Values that need a serializer: a Hash such as an application caches in place of a record.
      class Hashes < WriteThenRead
        WRITE = write_pass("write", "write of a Hash")
        READ = read_pass("read", "read of a Hash, a hit")

        # What every key holds, but for its id.
        VALUE = { name: "Teapot", price: 19.5, tags: ["kitchen", "tea"], available: true, seller: nil }.freeze

        named "hashes", "Values that are Hashes, one thread", "Rails.cache.write and .read of a Hash of six entries."
        only_on_request

        private

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
