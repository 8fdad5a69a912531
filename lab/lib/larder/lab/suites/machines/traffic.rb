# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../errors"
require_relative "../../histogram"
require_relative "../shop"

module Larder
  module Lab
    module Suites
      module Machines
        # Reads and changes keys at random times, few of them often.
        class Traffic
          include Clock

          # Keys, bytes of each value, and threads that read.
          KEYS = 200
          BYTES = 2000
          THREADS = 5
          # A second, by all threads, and changes of another machine.
          READS = 200.0
          CHANGES = 10.0
          # Seconds of reads: until as many copies are there as there will be, and those that are counted.
          WARM_UP = 0.6
          COUNTED = 1.2

          # @param number [Integer]
          # @return [String] what is stored under it
          def self.value(number)
            (@values ||= Array.new(KEYS) { |each| Shop::Text.html(each, BYTES).freeze })[number]
          end

          # Stores all keys, and reads them.
          # @param store [ActiveSupport::Cache::Store]
          # @return [void]
          def self.fill(store)
            values = (0...KEYS).to_h { |number| ["traffic/#{number}", value(number)] }
            store.write_multi(values)
            store.read_multi(*values.keys)
          end

          # @param store [ActiveSupport::Cache::Store]
          def initialize(store)
            @store = store
          end

          # Reads.
          # @param neighbour [Neighbour] that changes values at the same time
          # @param asked [#call, nil] how many reads the server has answered; nil: all of them
          # @return [Hash{String=>Object}] see {Bench::Suite::BlockBuilder#paced}
          def run(neighbour, asked)
            neighbour.go(now + WARM_UP + COUNTED)
            read(now + WARM_UP)
            before = asked&.call
            times = read(now + COUNTED)
            figures = { "histogram" => times.to_h }
            figures["by_file"] = 1.0 - (asked.call - before).fdiv(times.count) if asked
            neighbour.answer
            { "calls" => times.count, "seconds" => times.mean, "figures" => figures }
          end

          # @param until_then [Float]
          # @return [Integer] changes
          def change(until_then)
            made = 0
            paced(CHANGES, until_then, Random.new(THREADS)) do |number|
              @store.write("traffic/#{number}", self.class.value(number))
              made += 1
            end
            made
          end

          private

          def read(until_then)
            threads = Array.new(THREADS) { |number| Thread.new { reads(until_then, Random.new(number)) } }
            Histogram.merge(threads.map(&:value))
          end

          def reads(until_then, random)
            times = Histogram.new
            paced(READS / THREADS, until_then, random) do |number|
              started = now
              found = @store.read("traffic/#{number}")
              times.record(((now - started) * 1e9).round)
              raise Invalid, "a wrong value of traffic/#{number}" unless found == self.class.value(number)
            end
            times
          end

          # As independent requests arrive; who is late goes on at once.
          # @yieldparam number [Integer] of a key
          def paced(rate, until_then, random)
            due = now
            while (due -= Math.log(1.0 - random.rand) / rate) < until_then
              sleep([due - now, 0].max)
              break if now > until_then

              yield (KEYS * (random.rand**3)).to_i
            end
          end
        end
      end
    end
  end
end
