# frozen_string_literal: true

# Builds the report chapter of `larder-lab stampede`: how often the block ran, how long callers waited, and reads while
# a value is computed again.

require_relative "../histogram"
require_relative "../loads"
require_relative "report"

module Larder
  module Lab
    module Loads
      # The chapter of `larder-lab stampede`.
      class StampedeReport < Report
        KEY = "stampede"
        TITLE = "Many callers want one key"
        # What the block does while the value is computed again.
        WORK = { "io" => "the block waits", "cpu" => "the block computes" }.freeze
        # The percentile that is compared.
        TAIL = 0.99
        REFRESH_NOTE = "A reader that computes makes one read meanwhile: the slowest shows it, p99 may not. –: too " \
                       "few for a p99. Block runs: each time that the value has expired, mean."

        private

        def lead
          block, processes, threads = plan.settings.values_at(:block, :processes, :threads)
          "Rails.cache.fetch(key) { sleep #{block}; value } by #{processes} processes with #{threads} threads each, " \
            "all at one moment."
        end

        def own_facts
          ["#{plan.settings[:keys]} keys a round", "#{results.environment[:cores]} cores"]
        end

        def registry
          Contenders::SingleFlights
        end

        def highlight?(name)
          name == "larder-single-flight"
        end

        def callers
          plan.settings[:processes] * plan.settings[:threads]
        end

        def sections
          absent = section("The key is absent: #{callers} callers", rushes("absent"), chart)
          absent.headline = true
          killed = section("The process that computes is killed", (rushes("killed", killed_names) if killed_names.any?))
          [absent, killed, *WORK.map { |work, title| section("The value expires: #{title}", refreshes(work)) }]
        end

        def killed_names
          names.select { |name| events_of(name, "killed").any? }
        end

        def rushes(kind, names = self.names)
          counts = ["block runs", "answers", "no value"].map { |title| { title: title, align: "right" } }
          columns = [{ title: "" }, *counts, { title: "p50 ms", format: "millis" },
                     { title: "p99 ms", format: "millis" }, { title: "CPU/wait", format: "percent", optional: 1 }]
          D::Table.build(columns: columns, rows: names.map { |name| rush(name, kind) }, notes: notes(kind))
        end

        def rush(name, kind)
          events = events_of(name, kind)
          waits = merged(events, "waits")
          waited = events.sum { |event| event["waited"] }
          [name, *%w[runs answers none].map { |field| range(events, field) }, waits.percentile(0.5),
           waits.percentile(TAIL), (events.sum { |event| event["busy"] } / waited if waited.positive?)]
        end

        def events_of(name, kind = "absent")
          results.of(name, "rush", of: kind)
        end

        # The least and the most.
        def range(events, field)
          least, most = events.map { |event| event[field] }.minmax
          least == most ? least.to_s : "#{least}–#{most}"
        end

        def median(events, field)
          Statistics.median(events.map { |event| event[field] })
        end

        def merged(events, field)
          Histogram.merge(events.map { |event| Histogram.from_h(event[field]) })
        end

        def notes(kind)
          own = names.reject { |name| type(name).shared? }
          ["For a key, the least and the most: runs of the block, different answers, callers without a value. p50 " \
           "and p99 are of the others; –: too few. CPU/wait: of those who got a value that another computed.",
           ("Without the run that was killed. In the other stores each caller computes." if kind == "killed"),
           ("Each process has a store of its own: #{own.join(", ")}." if kind == "absent" && own.any?)].compact
        end

        def chart
          rows = names.map do |name|
            runs = events_of(name).map { |event| event["runs"] }
            { label: name, highlight: highlight?(name), dots: runs, **Statistics.estimate(runs).to_h }
          end
          words = names.map { |name| "#{name} #{range(events_of(name), "runs")}" }
          D::Intervals.build(title: "Runs of the block for one key", rows: rows,
                             sentence: "Runs of the block, a dot for each key: #{words.join(", ")}.",
                             x: { title: "runs", scale: "log", format: "integer" })
        end

        def refreshes(work)
          columns = [{ title: "" }, { title: "hits µs", format: "micros" }, { title: "meanwhile µs", format: "micros" },
                     { title: "ratio", format: "number" }, { title: "slowest ms", format: "millis" },
                     { title: "block runs", format: "number" }]
          D::Table.build(caption: "p99 of hits, and of the reads that began while the block ran",
                         columns: columns, rows: names.map { |name| refresh(name, work) }, notes: [REFRESH_NOTE])
        end

        def refresh(name, work)
          events = results.of(name, "refresh", work: work)
          runs, expiries = %w[runs expiries].map { |field| events.sum { |event| event[field] } }
          [name, tail(name, work, "plain"), tail(name, work, "during"), slowdown(name, work), slowest(name, work),
           (runs.fdiv(expiries) if expiries.positive?)]
        end

        def tail(name, work, part)
          p99(results.of(name, "refresh", work: work), part)
        end

        # How many times as long a read takes meanwhile, at the percentile.
        def slowdown(name, work)
          during, plain = %w[during plain].map { |part| tail(name, work, part) }
          during / plain if during && plain
        end

        def slowest(name, work)
          most = merged(results.of(name, "refresh", work: work), "during").max
          most && (most * Histogram::SECONDS)
        end

        # Nothing here has an interval over rounds.
        def few_rounds; end

        def conclusions
          [computed, *killed_names.map { |name| killed(name) }, served, empty]
        end

        def computed
          by_runs = names.group_by { |name| range(events_of(name), "runs") }
          words = by_runs.map { |runs, some| "#{some.join(", ")} #{times(runs)}" }
          "For an absent key that #{callers} callers want, the block runs: #{words.join("; ")}."
        end

        def times(runs)
          runs == "1" ? "once" : "#{runs} times"
        end

        def killed(name)
          events = events_of(name, "killed")
          none = median(events, "none").round
          death = "#{name}, when the process that computes is killed"
          return "#{death}: #{none} of #{callers} callers get no value." if none.positive?

          longest = merged(events, "waits").max * Histogram::SECONDS
          "#{death}: the block runs #{times(range(events, "runs"))} more, and everybody has the value within " \
            "#{Figures.duration(longest)}."
        end

        def served
          words = names.filter_map do |name|
            longest, times = slowest(name, "io"), slowdown(name, "io")
            "#{name} #{Figures.duration(longest)}#{" (#{Figures.significant(times)})" if times}" if longest
          end
          return if words.empty?

          "The slowest read while an expired value is computed again (and p99, in times that of other hits): " \
            "#{words.join(", ")}."
        end

        def empty
          rows = names.select { |name| events_of(name).any? { |event| event["none"].positive? } }
          return if rows.empty?

          "While one caller computes an absent key, the others get an empty answer at once in place of the value: " \
            "#{rows.join(", ")}."
        end

        def measures
          names.flat_map do |name|
            runs = each_round(events_of(name)) { |events| median(events, "runs") }
            waits = %w[absent killed].map do |kind|
              seconds(name, "#{kind}/p99", each_round(events_of(name, kind)) { |events| p99(events, "waits") })
            end
            reads = each_round(results.of(name, "refresh", work: "io")) { |events| p99(events, "during") }
            [D::Measure.new(key: "stampede/absent/runs/#{name}", label: "#{name}: runs of the block", unit: "count",
                            better: "lower", samples: runs), *waits, seconds(name, "expires/p99", reads)].compact
          end
        end

        # Nil without samples of every round.
        def seconds(name, figure, samples)
          return if samples.empty? || samples.any?(&:nil?)

          D::Measure.new(key: "stampede/#{figure}/#{name}", label: "#{name}: #{figure.tr("/", " ")}", unit: "seconds",
                         better: "lower", samples: samples)
        end

        def p99(events, field)
          merged(events, field).percentile(TAIL)
        end

        def each_round(events, &figure)
          events.group_by { |event| event["round"] }.values.map(&figure)
        end
      end
    end
  end
end
