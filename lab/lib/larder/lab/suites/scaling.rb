# frozen_string_literal: true

require_relative "../bench/callers"
require_relative "../clock"

module Larder
  module Lab
    module Suites
      # Counts calls of more and more threads and processes that use one store.
      module Scaling
        # Callers at once.
        COUNTS = [1, 2, 4].freeze
        # Seconds that all callers call, for each of them: Ruby lets a thread run as long before it lets the next one.
        SECONDS = 0.1

        module_function

        # Calls with each count of :threads or :processes.
        def measure(scene, mix, kind)
          each = COUNTS.to_h { |count| [count.to_s, called(scene, mix, *(kind == :threads ? [1, count] : [count, 1]))] }
          rates = each.transform_values { |callers| callers.sum(&:first) / callers.map(&:last).max }
          slowest, fastest = each.values.last.map(&:first).minmax
          { "calls" => each.each_value.sum { |callers| callers.sum(&:first) }, "seconds" => 1 / rates.values.last,
            "figures" => { **rates, "apart" => (fastest.fdiv(slowest) if slowest.positive?) } }
        end

        # The calls of each caller, and the seconds until it had ended.
        def called(scene, mix, processes, threads)
          connect = -> { Array.new(threads) { |number| Thread.new { Mix.new(scene, mix, number).once } }.each(&:join) }
          Bench::Callers.all(processes, ready: connect) do |process, start|
            Array.new(threads) do |thread|
              Thread.new { Mix.new(scene, mix, (process * threads) + thread).run(start, SECONDS * processes * threads) }
            end.map(&:value)
          end.flatten(1)
        end
        private_class_method :called

        # One caller: it reads, and now and then writes, keys that all callers share, until the time is up. The loop is
        # the measured code.
        class Mix
          include Clock

          # Keys that all share.
          KEYS = 1009
          VALUES = Array.new(KEYS) { |number| "Hello World! #{number}".freeze }.freeze
          # Calls between two looks at the clock, which cost next to nothing then.
          BATCH = 16
          # One call of this many is a write in the mix `mixed`.
          ROUND = 20
          # Seconds of calls that do not count.
          WARMING = 0.1

          # Writes all keys, and warms up.
          def self.fill(scene)
            KEYS.times { |number| scene.store.write(["shared", number], VALUES[number], expires_in: 5.minutes) }
            new(scene, :mixed, 0).warm
          end

          # Each caller begins at another key, by its number.
          def initialize(scene, mix, number)
            @store = scene.store
            @keeps = scene.keeps?
            @writes = mix == :mixed
            @at = number * 7919
          end

          def once = call(@at)

          def warm = run(now, WARMING)

          # Answers calls, and seconds from the start, which all callers share. A thread whose turn comes when the time
          # is up makes none.
          def run(start, seconds)
            Bench::Callers.wait_until(start)
            calls = 0
            until (time = now) >= start + seconds
              BATCH.times { call(@at += 1) }
              calls += BATCH
            end
            [calls, time - start]
          end

          private

          # The number of keys is a prime, so that every step reaches all of them, to read and to write.
          def call(at)
            number = at * 7 % KEYS
            key, value = ["shared", number], VALUES[number]
            return @store.write(key, value, expires_in: 5.minutes) if @writes && (at % ROUND).zero?

            found = @store.fetch(key, expires_in: 5.minutes) { @keeps ? :lost : value }
            return if found == value

            raise Invalid, "a wrong value: #{found.inspect} instead of #{value.inspect} for #{key}"
          end
        end
      end

      register("scaling", Bench::Suite.define("scaling") do
        title "More threads, more processes"
        command "scaling", "throughput with 1, 2 and 4 threads and processes", <<~TEXT
          Measures how many calls a second a store answers with more callers: threads of
          one process, and processes that use the same file or server. It measures hits
          only, and 95 hits to 5 writes, on keys that all callers share. "4 to 1" is the
          throughput of four callers as a multiple of that of one. A store that is private
          to a process has a copy in each.
        TEXT
        question "How many calls a second does a store answer with more threads, and with more processes?"
        sessions 3

        { hit: "hits", mixed: "95 hits to 5 writes" }.to_a.product(%i[threads processes]) do |(mix, name), kind|
          block("#{mix}_#{kind}", "#{name}, by #{kind}", alone: true, about: "calls a second of 1, 2 and 4 #{kind}") do
            setup { |scene| Scaling::Mix.fill(scene) }
            paced { |scene| Scaling.measure(scene, mix, kind) }
            Scaling::COUNTS.each do |count|
              sentence = "Calls a second, #{name}, by #{count} #{kind}" if count == Scaling::COUNTS.last
              column(count.to_s, "number", sentence: sentence, better: "higher", unit: "per second") do |rates|
                rates[count.to_s]
              end
            end
            column("4 to 1", "number") { |rates| rates["4"] / rates["1"] }
            column("fastest to slowest", "number") { |rates| rates["apart"] }
            curve("Calls a second, #{name}, by #{kind}", x: { title: kind.to_s, format: "integer" },
                                                         y: { title: "calls per second", format: "number",
                                                              scale: "log" }) do |all|
              Scaling::COUNTS.map { |count| [count, Bench::Stats.median(all.map { |rates| rates[count.to_s] })] }
            end
          end
        end
      end)
    end
  end
end
