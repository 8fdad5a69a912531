# frozen_string_literal: true

require_relative "../histogram"

module Larder
  module Lab
    module Suites
      # Times single calls of one thread, at times of their own and back to back.
      module Tails
        VALUE = "Hello World!"
        # Keys of hits; and of misses, more than there are calls.
        KEYS = 1000
        ENDLESS = 1 << 60
        # Keys that are written back to back before the store is emptied: a fraction of the room of every store.
        MOST_KEYS = 50_000
        # Part of the time for calls back to back, and seconds for what the lab itself takes.
        CLOSED = 0.3
        OWN = 0.03
        SEED = 1
        # Seconds of a schedule, at most: a process would give a longer one up too late, see {Meter::LATE}.
        MOST_SECONDS = 29
        # A row that made calls at a smaller part of the rate could not keep up.
        SHORT = 0.9
        # Points of a curve.
        POINTS = [0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999].freeze

        module_function

        def fill(scene) = KEYS.times { |number| fetch(scene, number) }

        # Calls that go round this number of keys, as {closed}, which calls back to back.
        def at_rate(scene, keys)
          rate, seconds = scene.settings.values_at(:rate, :block_seconds)
          schedule = Meter.schedule(rate, [(rate * seconds).ceil, 1].max, Random.new(SEED))
          block = meter.open(schedule) { |number| fetch(scene, number % keys) }
          found(block, asked: schedule.size, due: schedule.last.fdiv(1e9))
        end

        def closed(scene, keys)
          pause = ->(number) { scene.contender.clear if number.positive? && (number % MOST_KEYS).zero? }
          seconds = scene.settings[:block_seconds] * CLOSED
          block = meter.closed(seconds, pause: pause) { |number| fetch(scene, number % keys) }
          found(block, asked: block.calls, due: block.seconds)
        end

        # The seconds of a figure that are the lab's own.
        def own = meter.closed(OWN) { VALUE }.histogram.quantile(0.5)

        # Latencies of a row that falls behind tell how long the schedule was, not how the store is.
        def late?(processes)
          asked, due, taken = %w[asked due taken].map { |name| processes.sum { |process| process[name] } }
          Histogram.of(processes).count * due < asked * taken * SHORT
        end

        def fetch(scene, number) = scene.store.fetch(["key", number], expires_in: 300) { VALUE }

        def meter
          Meter.new(VALUE, ->(number, found) { raise Invalid, "a wrong value: #{found.inspect} of call #{number}" })
        end

        # `asked` calls were to be made within `due` seconds.
        def found(block, asked:, due:)
          { "calls" => block.calls, "seconds" => block.histogram.mean,
            "figures" => { histogram: block.histogram.to_h, asked: asked, due: due, taken: block.seconds,
                           allocated: block.allocated, own: own } }
        end
        private_class_method :fetch, :meter, :found

        # Times single calls, back to back or by a schedule. The loop below is the measured code: between the two
        # readings of the clock there is the call alone. Latencies are counted in a histogram outside of that time.
        class Meter
          # Calls after which their latencies are counted.
          CHUNK = 1000
          # Nanoseconds that are waited for awake: sleeping is no more exact than that.
          AWAKE = 1_000_000
          # A schedule is given up when it takes this number of times as long as it should.
          LATE = 4
          SECOND = 1_000_000_000

          # calls; seconds: that they took, or that the schedule took; allocated: objects
          Block = Struct.new(:histogram, :calls, :seconds, :allocated, keyword_init: true)

          # The times at which calls of an open loop are due, nanoseconds from the beginning: arrivals at a rate, as of
          # many callers that know nothing of each other, a Poisson process. Some calls come while others are served.
          # Waiting for those is part of their latency, as it is for requests of an application.
          def self.schedule(rate, calls, random)
            at = 0.0
            Array.new(calls) { (at -= Math.log(1.0 - random.rand) * SECOND / rate).round }
          end

          # Calls must answer `expected`; `wrong` gets the number of one that does not, and its answer.
          def initialize(expected, wrong)
            @expected = expected
            @wrong = wrong
          end

          # Calls back to back. Between chunks, outside the time, `pause` gets the number of the next call.
          def closed(seconds, pause: nil, &call)
            counted do |block|
              left = (seconds * SECOND).ceil
              while left.positive?
                pause&.call(block.calls)
                left -= take(block, CHUNK, left, &call)
              end
            end
          end

          # Calls at the times of a schedule, or as soon after as the call before has answered. Latency counts from the
          # time of the schedule: what a call waited for the one before is part of it, as its caller would have waited.
          # It makes fewer calls than the schedule has if it falls far behind.
          def open(schedule, &call)
            counted { |block| take(block, schedule.size, (schedule.last.to_i * LATE) + SECOND, schedule, &call) }
          end

          private

          def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

          # Makes calls until `nanoseconds` are over, `most` of them. Answers the nanoseconds that it took.
          def take(block, most, nanoseconds, schedule = nil)
            expected = @expected
            latencies = Array.new(most, 0)
            calls = 0
            begun = finish = clock + (schedule ? AWAKE : 0)
            while calls < most && finish < begun + nanoseconds
              start = schedule ? wait_for(begun + schedule[calls]) : clock
              value = yield block.calls + calls
              finish = clock
              latencies[calls] = finish - start
              @wrong.call(block.calls + calls, value) unless value == expected
              calls += 1
            end
            latencies.first(calls).each { |latency| block.histogram.record(latency) }
            block.calls += calls
            block.seconds += (finish - begun).fdiv(SECOND)
            finish - begun
          end

          # Answers the same time, also if it is over.
          def wait_for(due)
            left = due - clock
            sleep((left - AWAKE).fdiv(SECOND)) if left > AWAKE
            nil while clock < due
            due
          end

          def counted
            block = Block.new(histogram: Histogram.new, calls: 0, seconds: 0.0)
            GC.start
            before = GC.stat(:total_allocated_objects)
            yield block
            block.allocated = GC.stat(:total_allocated_objects) - before
            block
          end
        end
      end

      register("tails", Bench::Suite.define("tails") do
        title "How long calls take, and the slowest of them"
        command "latency", "how slow the slowest calls are, at one rate for all stores and back to back", <<~TEXT
          Measures the latency of single calls, up to the slowest of some thousands:
            Rails.cache.fetch(["key", i], expires_in: 5.minutes) { "Hello World!" }
          At a rate: calls are due at the same random times on every store, and latency
          counts from when a call was due: a stall affects all calls that were due in it,
          as it does for users ("coordinated omission"). Back to back: it affects one.
        TEXT
        answers "hit_at_rate", "miss_at_rate"
        question "How slow are the slowest calls, at one rate for all stores and back to back?"
        setting :rate, 1000.0, "calls a second on each store"
        setting :block_seconds, 1.0, "of calls at that rate in each process", quick: 0.2, most: Tails::MOST_SECONDS

        { at_rate: ["at a rate", "one thread, at the same times on every store"],
          closed: ["back to back", "each call begins when the one before has ended"] }.each do |way, (words, times)|
          { "hit" => ["hits #{words}", times, Tails::KEYS],
            "miss" => ["misses with a write, #{words}", "each call has its own key", Tails::ENDLESS] }
            .each do |kind, (title, note, keys)|
            about = "#{note}; a percentile needs #{Histogram::BEYOND} calls that take longer"
            block("#{kind}_#{way}", title, alone: true, about: about) do
              setup { |scene| Tails.fill(scene) if kind == "hit" }
              paced { |scene| Tails.public_send(way, scene, keys) }
              { "p50" => 0.5, "p99" => 0.99, "p99.9" => 0.999 }.each do |name, share|
                column(name, "seconds", all: true, sentence: ("p99 of #{title}" if name == "p99")) do |all|
                  Histogram.of(all).percentile(share)
                end
              end
              column("slowest", "seconds", all: true) { |all| Histogram.of(all).slowest }
              column("calls", "integer", all: true) { |all| Histogram.of(all).count }
              column("objects/call", "number", all: true) do |all|
                all.sum { |process| process["allocated"] }.fdiv(Histogram.of(all).count)
              end
              column("the lab's part", "seconds") { |process| process["own"] }
              curve("Latency of #{title}", x: { title: "percentile", scale: "percentile", format: "percentile" },
                                           y: { title: "latency", scale: "log", format: "seconds" }) do |all|
                Tails::POINTS.filter_map { |share| (value = Histogram.of(all).percentile(share)) && [share, value] }
              end
              warning("Could not keep up with the rate of #{title}") { |all| Tails.late?(all) }
            end
          end
        end
      end)
    end
  end
end
