# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Strings of a megabyte that no compressor makes smaller: images, PDFs, archives.
      class Large < Workload
        WRITE = Pass.new(key: "write", title: "write of 1 MB", reading: false, clears: true).freeze
        READ = Pass.new(key: "read", title: "read of 1 MB, a hit", reading: true, clears: false, fills: :block).freeze

        # Bytes of a value. memcached's limit, its header included, is a little more.
        BYTES = 1_000_000
        # n for which there is one key: a megabyte is about as much work as that many small values.
        CALLS_A_KEY = 400
        # Keys at most: a tenth of what the stores have room for.
        MOST_KEYS = 25

        named "large", "Strings of 1 MB, one thread", "Rails.cache.write and .read of incompressible strings."
        only_on_request

        # @return [Array<Pass>]
        def self.passes
          [WRITE, READ]
        end

        # Inside the timing a value is known by its length and its ends; here by all its bytes.
        # @return [Block]
        def run(pass, laps)
          super.tap { |block| block.wrong ||= first_wrong if keeps? }
        end

        private

        # Each string begins and ends with the number of its key.
        def slices(count, _threads)
          random = Random.new(1)
          keys = (count / CALLS_A_KEY).clamp(1, MOST_KEYS)
          @values = Array.new(keys) { |i| "#{mark(i)}#{random.bytes(BYTES - 32)}#{mark(i)}".b.freeze }
          @marks = Array.new(keys) { |i| mark(i) }
          [0...keys]
        end

        def mark(number)
          format("%016d", number).b.freeze
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
          keys.each { |i| store.write(["key", i], @values[i], expires_in: 5.minutes) }
        end

        def read(store, keys)
          wrong = nil
          keys.each do |i|
            found = store.read(["key", i])
            wrong ||= [i, found, @values[i]] unless keeps? ? right?(found, i) : found.nil?
          end
          wrong
        end

        def right?(found, number)
          found && found.bytesize == BYTES && found.start_with?(@marks[number]) && found.end_with?(@marks[number])
        end

        def first_wrong
          @slices.first.each do |i|
            found = contender.store.read(["key", i])
            return [i, found, @values[i]] unless found == @values[i]
          end
          nil
        end
      end
    end
  end
end
