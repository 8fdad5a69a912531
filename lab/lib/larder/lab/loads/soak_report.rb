# frozen_string_literal: true

# Builds the report chapter of `larder-lab soak`: throughput, the slowest calls, memory and disk over time.

require_relative "../histogram"
require_relative "../loads"
require_relative "report"

module Larder
  module Lab
    module Loads
      # The chapter of `larder-lab soak`.
      class SoakReport < Report
        KEY = "soak"
        TITLE = "Full, and evicting"
        # A store that holds this many times more at the end than at the beginning grows.
        GROWN = 1.1

        private

        def lead
          objects = plan.size * Soak::FILLING / Soak::BYTES
          "Each store gets #{Figures.bytes(plan.size)} of room and is filled with #{Figures.thousands(objects)} " \
            "objects of #{Soak::BYTES} bytes, twice as much. Then these are asked for by one thread, few of " \
            "them often (Zipf, skew #{Soak::SKEW}); what is not there any more is written again."
        end

        def own_facts
          ["#{Figures.duration(plan.settings[:seconds])} for each store, in #{plan.settings[:slices]} slices"]
        end

        def sections
          [section("In all", table, halves), section("Throughput over time", curve("throughput")),
           section("The slowest call in a thousand over time", curve("tail")),
           section("Memory and disk over time", curve("memory"), curve("disk"))]
        end

        def slices(name)
          results.of(name, "slice")
        end

        # Stores that got as far as being measured.
        def lasting
          names.select { |name| slices(name).any? }
        end

        def stopped(name)
          results.of(name, "stopped").first&.fetch("reason")
        end

        def histogram(slices)
          Histogram.merge(slices.map { |slice| Histogram.from_h(slice["histogram"]) })
        end

        # Calls per second of the time spent in them.
        def rate(slice)
          slice["histogram"]["count"] / (slice["histogram"]["sum"] * Histogram::SECONDS)
        end

        def table
          columns = [{ title: "" }, { title: "calls/s", format: "number" }, { title: "misses", format: "percent" },
                     { title: "p50 µs", format: "micros", optional: 1 }, { title: "p99.9 µs", format: "micros" },
                     { title: "max µs", format: "micros", optional: 2 }, { title: "errors", format: "integer" },
                     { title: "filled in", format: "seconds", optional: 3 }]
          D::Table.build(columns: columns, rows: names.map { |name| row(name) })
        end

        def row(name)
          all = slices(name)
          return [name, stopped(name).to_s] if all.empty?

          histogram = histogram(all)
          calls = histogram.count
          [name, calls / (histogram.sum * Histogram::SECONDS), all.sum { |slice| slice["misses"] }.fdiv(calls),
           histogram.percentile(0.5), histogram.percentile(0.999), histogram.max * Histogram::SECONDS, errors(name),
           results.of(name, "filled").first&.fetch("seconds")]
        end

        def errors(name)
          failures(name).values.sum
        end

        # Messages, and how often each came.
        def failures(name)
          [*results.of(name, "filled"), *slices(name)].map { |event| event["errors"] }
                                                      .reduce({}) { |all, one| all.merge(one) { |_, a, b| a + b } }
        end

        # Of each round, its second half beside its first one, slice by slice.
        def halves
          rows = lasting.map do |name|
            [name, cell(pace(name)), *%w[memory_bytes server_bytes disk_bytes].flat_map { |field| ends(name, field) }]
          end
          columns = [{ title: "" }, { title: "second half/first, calls/s", format: "ratio" },
                     *["process", "server", "disk"].flat_map do |what|
                       [{ title: "#{what}, begin", format: "bytes", optional: 2 },
                        { title: "#{what}, end", format: "bytes", optional: 1 }]
                     end]
          D::Table.build(caption: "Does it slow down, does it grow? Medians of the first and the last quarter",
                         columns: columns, rows: rows,
                         notes: ["≈: no difference is shown between the halves. Intervals are over slices."])
        end

        def pace(name)
          pairs = slices(name).group_by { |slice| slice["round"] }.values.flat_map do |round|
            half = round.size / 2
            Statistics.paired_ratios(round.last(half).map { |slice| rate(slice) },
                                     round.first(half).map { |slice| rate(slice) })
          end
          Statistics.estimate(pairs) unless pairs.empty?
        end

        def cell(estimate)
          estimate && { **estimate.to_h.transform_keys(&:to_s), "same" => 1.0.between?(estimate.low, estimate.high) }
        end

        # Bytes in the first and the last quarter of the slices.
        def ends(name, field)
          values = slices(name).map { |slice| slice[field] }
          return [nil, nil] unless values.any? && values.all?

          quarter = [values.size / 4, 1].max
          [Statistics.median(values.first(quarter)), Statistics.median(values.last(quarter))]
        end

        CURVES = {
          "throughput" => ["calls per second", "number", "log"], "tail" => ["p99.9, µs", "micros", "log"],
          "memory" => ["memory of process and server", "bytes", "linear"], "disk" => ["on disk", "bytes", "linear"]
        }.freeze
        private_constant :CURVES

        def curve(which)
          title, format, scale = CURVES.fetch(which)
          series = lasting.filter_map do |name|
            points = first_round(name).filter_map { |slice| point(which, slice) }
            { label: name, points: points, highlight: highlight?(name) } if points.size > 1
          end
          return if series.empty?

          D::Curves.build(title: capitalized(title), sentence: sentence(which, series), series: series,
                          x: { title: "seconds", format: "number" }, y: { title: title, format: format, scale: scale })
        end

        def first_round(name)
          slices(name).select { |slice| slice["round"] == 1 }
        end

        def point(which, slice)
          value = case which
                  when "throughput" then rate(slice)
                  when "tail" then Histogram.from_h(slice["histogram"]).percentile(0.999)
                  when "memory" then slice["memory_bytes"] && (slice["memory_bytes"] + slice["server_bytes"].to_i)
                  else slice["disk_bytes"]
                  end
          # Slices of the same number are drawn above each other.
          [(slice["number"] + 1) * plan.settings[:seconds] / plan.settings[:slices], value] if value
        end

        def sentence(which, series)
          title, format, = CURVES.fetch(which)
          words = series.map do |line|
            values = line["points"] || line[:points]
            least, most = values.map(&:last).minmax.map { |value| Reports::Cells.text(value, format) }
            "#{line[:label]} #{least} to #{most}"
          end
          "#{capitalized(title)} over time, least and most: #{words.join("; ")}."
        end

        def conclusions
          [*lasting.filter_map { |name| slower(name) }, steady, *lasting.filter_map { |name| grown(name) }]
        end

        def slower(name)
          estimate = pace(name)
          return unless estimate && (estimate.high < 1.0 || estimate.low > 1.0)

          "#{name}: the second half has #{Reports::Cells.text(cell(estimate).except("same"), "ratio")} times the " \
            "throughput of the first one: it becomes #{estimate.high < 1.0 ? "slower" : "faster"}."
        end

        def steady
          rows = lasting.select { |name| (cell = cell(pace(name))) && cell["same"] }
          "No difference is shown between the halves: #{rows.join(", ")}." if rows.any?
        end

        def grown(name)
          words = { "memory_bytes" => "its process", "server_bytes" => "its server", "disk_bytes" => "the disk" }
          parts = words.filter_map do |field, what|
            first, last = ends(name, field)
            next unless first&.positive? && last > first * GROWN

            "#{what} from #{Figures.bytes(first)} to #{Figures.bytes(last)}"
          end
          "#{name} grows on: #{parts.join(", ")}." if parts.any?
        end

        def few_rounds
          "One run of each store: intervals are over its slices and say nothing of the next run." if results.rounds == 1
        end

        def own_warnings
          [given, *errors_of, *names.filter_map { |name| "#{name} #{stopped(name)}." if stopped(name) }]
        end

        def given
          servers = @plan.urls.keys
          "A server of yours keeps the room that it has: #{servers.join(", ")}." if servers.any?
        end

        def errors_of
          lasting.filter_map do |name|
            "#{name}: #{errors(name)} calls failed: #{failures(name).max_by(&:last).first}." if errors(name).positive?
          end
        end

        def measures
          lasting.flat_map do |name|
            [measure(name, "throughput", "per second", "higher", slices(name).map { |slice| rate(slice) }),
             *tail_measure(name)]
          end
        end

        def tail_measure(name)
          tails = slices(name).map { |slice| Histogram.from_h(slice["histogram"]).percentile(0.999) }
          tails.all? ? [measure(name, "p99.9", "seconds", "lower", tails)] : []
        end

        def measure(name, what, unit, better, samples)
          D::Measure.new(key: "soak/#{what}/#{name}", label: "#{name}: #{what} while full", unit: unit,
                         better: better, samples: samples, base: (Reference::KEY unless unit == "bytes"))
        end
      end
    end
  end
end
