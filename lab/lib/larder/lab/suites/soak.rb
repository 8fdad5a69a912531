# frozen_string_literal: true

# Declares the block that uses a full store over time.

require_relative "soak/full"

module Larder
  module Lab
    module Suites
      # Rate, latency, memory and size of a store that evicts.
      module Soak
        # Curves over time, by figures that have a number for each slice: title, and format of its axis.
        CURVES = { "rates" => ["Calls a second over time", "number"],
                   "tails" => ["The slowest call in a thousand over time", "seconds"],
                   "memory" => ["Memory of process and server over time", "bytes"],
                   "disk" => ["Blocks on the disk over time", "bytes"] }.freeze

        module_function

        # The median of the last slices as a multiple of that of the first, by halves (2) or quarters (4); nil without
        # values.
        def growth(values, part)
          return unless values.all? && values.first.positive?

          size = [values.size / part, 1].max
          first, last = [values.first(size), values.last(size)].map { |some| Bench::Stats.median(some.map(&:to_f)) }
          last / first
        end
      end

      register("soak", Bench::Suite.define("soak") do
        title "Full, and evicting"
        command "soak", "speed and size of a full store that evicts, over time", <<~TEXT
          Measures a full store over time. Each store gets little room, is filled with
          twice as much, and is then read by a Zipf distribution; an evicted object is
          written again. The report shows throughput, the slowest call in a thousand,
          memory and disk over time, and whether the second half is slower than the first.

          Objects are 900 random bytes. A store that uses more than three times its size
          on disk has no limit, and is not measured.
        TEXT
        question "Does a full store that evicts stay fast and small?"
        sessions 1
        size 16 << 20
        sized true
        setting :seconds, 10.0, "of calls on each store", quick: 1.0, most: 60
        usual { Contenders.usual.select { |name| Contenders.fetch(name).keeps_values? } }

        block(:full, "a full store", alone: true, about: "filled with twice its room; then objects are read, few of " \
                                                         "them often, and stored again if they were evicted") do
          setup do |scene|
            scene.must_be_filled
            scene[:full] = Soak::Full.new(scene.contender).tap(&:fill)
          end
          paced { |scene| scene[:full].use(scene.settings[:seconds]) }
          column("calls/s", "number", better: "higher", unit: "per second") { |found| 1 / Histogram.of([found]).mean }
          column("misses", "percent") { |found| found["misses"].fdiv(found["histogram"]["count"]) }
          column("p99.9", "seconds", better: "lower", unit: "seconds", all: true) do |all|
            Histogram.of(all).percentile(0.999)
          end
          column("slowest", "seconds", all: true) { |all| Histogram.of(all).slowest }
          column("2nd half to 1st", "number",
                 sentence: "Calls a second in the second half, as a multiple of the first") do |found|
            Soak.growth(found["rates"], 2)
          end
          %w[memory disk].each do |place|
            column(place, "bytes") { |found| found[place].last }
            column("#{place} grows", "number",
                   sentence: "The #{place} at the end, as a multiple of the beginning") do |found|
              Soak.growth(found[place], 4)
            end
          end
          column("failed", "text", all: true) do |all|
            failures = all.map { |found| found["failures"] }.reduce { |sum, more| sum.merge(more) { |_, a, b| a + b } }
            failures.map { |message, times| "#{times}: #{message}" }.join(", ") if failures.any?
          end
          Soak::CURVES.each do |name, (title, format)|
            curve(title, x: { title: "slice", format: "integer" }, y: { title: title, format: format }) do |all|
              all.first[name].each.with_index(1).filter_map { |value, slice| [slice, value] if value }
            end
          end
        end
      end)
    end
  end
end
