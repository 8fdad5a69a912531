# frozen_string_literal: true

require_relative "write_then_read"

module Larder
  module Lab
    module Workloads
      # Strings of a megabyte that no compressor makes smaller: images, PDFs, archives. Nobody compresses: Rails would,
      # in the stores that leave it to Rails, and the figure would be zlib's.
      class Large < WriteThenRead
        WRITE = write_pass("write", "write of 1 MB")
        READ = read_pass("read", "read of 1 MB, a hit")

        # Bytes of a value. memcached's limit, its header included, is a little more.
        BYTES = 1_000_000
        # n for which there is one key: a megabyte is about as much work as that many small values.
        CALLS_A_KEY = 400
        # Keys at most: a tenth of what the stores have room for.
        MOST_KEYS = 25

        named "large", "Strings of 1 MB, one thread",
              "Rails.cache.write and .read of incompressible strings, with compress: false."
        only_on_request

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

        def write(store, keys)
          keys.each { |i| store.write(["key", i], @values[i], expires_in: 5.minutes, compress: false) }
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

        # Inside the timing a value is known by its length and its ends; here, after either pass, by all its bytes.
        def wrong_after(_pass)
          reads.each do |i|
            found = contender.store.read(["key", i])
            return [i, found, @values[i]] unless found == @values[i]
          end
          nil
        end
      end
    end
  end
end
