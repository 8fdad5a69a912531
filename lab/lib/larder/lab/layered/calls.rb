# frozen_string_literal: true

# Measures single calls of a machine whose store is behind a round trip: hits of a copy, misses that the remote store
# answers, writes, ten reads in a row, ten keys by one call.

require_relative "../clock"
require_relative "../errors"

module Larder
  module Lab
    module Layered
      # Seconds of each kind of call.
      class Calls
        include Clock

        # What is measured, and its heading.
        KINDS = { "hit" => "hit", "page" => "ten hits", "miss" => "miss", "list" => "read_multi", "write" => "write" }
                .freeze
        # Keys of a page.
        PAGE = 10
        # Keys that another machine has written, of which this one has no copies: for misses, and for lists.
        FRESH = 40
        LISTS = 6
        # Calls of a kind that has a key for each, at least.
        LEAST = 2

        # @param number [Integer] of a key
        # @param bytes [Integer]
        # @return [String] what is stored under it, as long as HTML of a fragment
        def self.value(number, bytes)
          "<li>#{number}</li>".ljust(bytes, "<p>What a page says, and says again.</p>")
        end

        # Writes what a measurement reads. On another machine, as that one's file must not have it.
        # @param store [ActiveSupport::Cache::Store]
        # @param name [String] of the measurement
        # @param bytes [Integer]
        # @return [void]
        def self.fill(store, name, bytes)
          numbers = (0...(FRESH + (LISTS * PAGE)))
          store.write_multi(numbers.to_h { |number| ["#{name}/#{number}", value(number, bytes)] })
        end

        # @param store [ActiveSupport::Cache::Store]
        # @param name [String] of the measurement
        # @param bytes [Integer] of a value
        # @param seconds [Float] for each kind, at least, as far as there are keys
        def initialize(store, name, bytes, seconds)
          @store = store
          @name = name
          @bytes = bytes
          @seconds = seconds
        end

        # @return [Hash{String=>Float}] seconds of a call, by {KINDS}
        # @raise [Invalid] a wrong value came back
        def measure
          GC.start
          warm = (0...PAGE).map { |number| key(number) }
          @store.read_multi(*warm)
          @store.write("#{@name}/connects", value(0))
          { "miss" => once(PAGE...FRESH) { |number| read(key(number)) },
            "hit" => repeated { @store.read(warm.first) },
            "page" => repeated { warm.each { |each| @store.read(each) } },
            "list" => once(0...LISTS) { |number| list(number) },
            "write" => repeated { @store.write(warm.first, value(0)) } }
        end

        private

        def key(number)
          "#{@name}/#{number}"
        end

        def value(number)
          self.class.value(number, @bytes)
        end

        # Checked where it is not timed in a loop.
        def read(key)
          found = @store.read(key)
          wrong(key, found) unless found == value(Integer(key[/\d+\z/]))
        end

        def list(number)
          keys = Array.new(PAGE) { |i| key(FRESH + (number * PAGE) + i) }
          found = @store.read_multi(*keys)
          wrong(keys.first, found[keys.first]) unless found.size == PAGE
        end

        def wrong(key, found)
          raise Invalid, "a wrong value came back for #{key}: #{found.inspect[0, 60]}"
        end

        # Each number once, until there was time enough.
        def once(numbers)
          calls = 0
          started = now
          numbers.each do |number|
            yield number
            calls += 1
            break if calls >= LEAST && now - started >= @seconds
          end
          (now - started) / calls
        end

        # Twice as often again, until there was time enough.
        def repeated
          calls = 1
          calls *= 2 until (took = lap(calls) { yield }) >= @seconds
          took / calls
        end

        def lap(calls)
          started = now
          calls.times { yield }
          now - started
        end
      end
    end
  end
end
