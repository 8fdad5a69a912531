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

          # Keys, bytes of each value, threads that read, their reads a second, and changes of another machine.
          KEYS = 200
          BYTES = 2000
          THREADS = 5
          READS = 200.0
          CHANGES = 10.0

          # The value of the key with that number.
          def self.value(number) = (@values ||= Array.new(KEYS) { |each| Shop::Text.html(each, BYTES).freeze })[number]

          def initialize(store)
            @store = store
          end

          # Stores all keys, and reads them.
          def fill
            values = (0...KEYS).to_h { |number| ["traffic/#{number}", self.class.value(number)] }
            @store.write_multi(values, **KEPT)
            @store.read_multi(*values.keys)
          end

          # Answers a histogram of nanoseconds.
          def read(until_then)
            threads = Array.new(THREADS) do |thread|
              Thread.new do
                times = Histogram.new
                paced(READS / THREADS, until_then, thread) { |number| times.record(nanoseconds_of_read(number)) }
                times
              end
            end
            Histogram.merge(threads.map(&:value))
          end

          # Answers the number of changes.
          def change(until_then)
            changes = 0
            paced(CHANGES, until_then, THREADS) do |number|
              @store.write("traffic/#{number}", self.class.value(number), **KEPT)
              changes += 1
            end
            changes
          end

          private

          def nanoseconds_of_read(number)
            began = now
            found = @store.read("traffic/#{number}")
            ended = now
            raise Invalid, "a wrong value of traffic/#{number}" unless found == self.class.value(number)

            ((ended - began) * 1e9).round
          end

          # As independent requests arrive. A call that is late begins at once.
          def paced(rate, until_then, seed)
            random = Random.new(seed)
            due = now
            while (due -= Math.log(1.0 - random.rand) / rate) < until_then && now < until_then
              sleep([due - now, 0].max)
              yield (KEYS * (random.rand**3)).to_i
            end
          end
        end
      end
    end
  end
end
