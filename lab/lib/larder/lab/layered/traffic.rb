# frozen_string_literal: true

# Reads and changes keys at given rates, of which few are popular, for a while: what one process of a machine does.

require_relative "../clock"
require_relative "../histogram"
require_relative "../hitratio/synthetic"
require_relative "calls"

module Larder
  module Lab
    module Layered
      # Arrivals are random, as those of independent requests are. Who is late goes on at once.
      class Traffic
        include Clock

        # @param store [ActiveSupport::Cache::Store]
        # @param keys [Integer]
        # @param skew [Float] of Zipf's law
        # @param bytes [Integer] of a value
        # @param seed [Integer]
        def initialize(store, keys:, skew:, bytes:, seed:)
          @store = store
          @ranks = Hitratio::Ranks.new(keys, skew)
          @bytes = bytes
          @seed = seed
        end

        # Writes all keys.
        # @param store [ActiveSupport::Cache::Store]
        # @return [void]
        def self.fill(store, keys:, bytes:)
          (0...keys).each_slice(100) do |numbers|
            store.write_multi(numbers.to_h { |number| [key(number), Calls.value(number, bytes)] })
          end
        end

        # Reads all keys.
        # @param store [ActiveSupport::Cache::Store]
        # @return [void]
        def self.warm(store, keys:)
          (0...keys).each_slice(100) { |numbers| store.read_multi(*numbers.map { |number| key(number) }) }
        end

        # @param number [Integer]
        # @return [String]
        def self.key(number)
          "traffic/#{number}"
        end

        # @param from [Float] when counting begins; calls begin now
        # @param to [Float] when it ends, and with it the calls
        # @param reads [Float] a second, of all threads
        # @param changes [Float] a second, of all threads
        # @param threads [Integer] that do both
        # @return [Hash{String=>Object}] reads: a {Histogram} as plain data; changes: how many
        def run(from:, to:, reads:, changes:, threads:)
          found = Array.new(threads) do |number|
            Thread.new { calls(from, to, reads / threads, changes / threads, Random.new(@seed + number)) }
          end.map(&:value)
          { "reads" => Histogram.merge(found.map(&:first)).to_h, "changes" => found.sum(&:last) }
        end

        private

        def calls(from, to, reads, changes, random)
          times = Histogram.new
          written = 0
          paced(reads + changes, to, random) do |started|
            if random.rand * (reads + changes) < reads
              read(@ranks.draw(random))
              times.record(((now - started) * 1e9).round) if started >= from
            else
              write(@ranks.draw(random))
              written += 1 if started >= from
            end
          end
          [times, written]
        end

        def read(rank)
          found = @store.read(self.class.key(rank))
          return if found&.bytesize == @bytes

          raise Invalid, "a wrong value came back for #{self.class.key(rank)}: #{found.inspect[0, 60]}"
        end

        def write(rank)
          @store.write(self.class.key(rank), Calls.value(rank, @bytes))
        end

        # @yieldparam started [Float]
        def paced(rate, to, random)
          due = now
          loop do
            due -= Math.log(1.0 - random.rand) / rate
            break if due >= to

            wait = due - now
            sleep(wait) if wait.positive?
            started = now
            break if started >= to

            yield started
          end
        end
      end
    end
  end
end
