# frozen_string_literal: true

require_relative "load"
require_relative "meter"
require_relative "schedule"

module Larder
  module Lab
    module Loads
      # The published call, hit and miss, by one thread: how long each took. Back to back, and at shares of the rate
      # that was reached so.
      #
      # Job: seconds of a block; shares of the rate; arrivals, see {Schedule}; seed.
      class Latency < Load
        Loads.register("latency", self)

        VALUE = "Hello World!"
        # Keys that are read.
        KEYS = 1000
        # Keys that are written before the store is emptied: a fraction of the room of every store.
        MOST_KEYS = 50_000
        # Calls of an open loop.
        MOST_CALLS = 200_000
        # Seconds for what the lab itself takes.
        OWN = 0.03

        private

        def measure
          @runs = 0
          emit("own", **own)
          hits
          misses
        end

        # The same loop around nothing: the median of what it takes for the time of a call, and the time of a round.
        def own
          block = meter.closed(OWN) { |i| nothing(i % KEYS) }
          { reading: block.histogram.quantile(0.5), round: block.seconds / block.calls }
        end

        def hits
          contender.clear
          KEYS.times { |i| call(i) }
          operation("hit", MOST_CALLS) { |i| call(i % KEYS) }
        end

        # Each call has a key of its own; how many there were before in this store is known by the pause.
        def misses
          pause = ->(number) { empty(number) if number - @emptied >= MOST_KEYS }
          operation("miss", MOST_KEYS, prepare: method(:empty), pause: pause) { |i| call(i) }
        end

        def empty(number = 0)
          contender.clear
          @emptied = number
        end

        def operation(name, most, prepare: nil, pause: nil, &call)
          closed = block(name, "closed", prepare) { meter.closed(job["seconds"], pause: pause, &call) }
          rate = closed.calls / closed.seconds
          job["shares"].each do |share|
            calls = (rate * share * job["seconds"]).ceil.clamp(1, most)
            schedule = Schedule.make(job["arrivals"], rate: rate * share, calls: calls, random: Random.new(job["seed"]))
            block(name, "open", prepare, share: share, rate: rate * share, asked: calls) { meter.open(schedule, &call) }
          end
        end

        def block(name, loop, prepare, **fields)
          prepare&.call
          @runs = 0
          block = yield
          emit("block", operation: name, loop: loop, block_runs: @runs, **fields, **block.to_h)
          block
        end

        def call(number)
          store.fetch(["key", number], expires_in: 5.minutes) do
            @runs += 1
            VALUE
          end
        end

        def nothing(_number)
          VALUE
        end

        def meter
          @meter ||= Meter.new(VALUE, ->(number, found) { wrong!(["key", number], found, VALUE) })
        end
      end
    end
  end
end
