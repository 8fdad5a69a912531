# frozen_string_literal: true

require_relative "base"

module Larder
  module Lab
    module Trials
      module Chapters
        # `larder-lab serializers`: there, back, and what is brought back.
        class Serializers < Base
          KEY = "serializers"
          TITLE = "Serializers"
          LEAD = "Values to bytes and back: as published on Book.all.to_a, and on a list and a Hash, with the first " \
                 "call of a process by itself. JSON, XML and Protocol Buffers are given attributes."
          OPERATIONS = ["serialize", "deserialize", "round trip"].freeze
          BASE = "marshal"

          private

          def to_sections
            groups.flat_map { |group| [group_section(group, @comparisons[group]), (published if group == "books")] }
                  .compact
          end

          def group_section(group, comparison)
            raw = @results.size(comparison.base, group).raw
            size = raw && " (#{Figures.thousands(raw)} bytes by Marshal)"
            section("#{@plan.titles.fetch(group)}#{size}", table(group, comparison), round_trips(group, comparison),
                    parts(group, comparison))
          end

          def table(group, comparison)
            columns = [{ title: "" }, { title: "bytes", format: "integer" },
                       { title: "smaller", format: "times", optional: 1 },
                       { title: "dump i/s", format: "rate" }, { title: "load i/s", format: "rate" },
                       { title: "round trip i/s", format: "rate", optional: 2 },
                       { title: "times #{comparison.base}", format: "ratio" },
                       { title: "cold ms", format: "millis", optional: 3 }]
            cells = rows(group, "round trip") { |name| cells(name, group, comparison) }
            Document::Table.build(columns: columns, rows: cells, notes: notes(group))
          end

          def cells(name, group, comparison)
            size = @results.size(name, group)
            cold = ["cold serialize", "cold deserialize"].sum { |operation| comparison.median(name, operation) || 0.0 }
            [size.bytes, size.raw&.fdiv(size.bytes), *OPERATIONS.map { |operation| comparison.median(name, operation) },
             comparison.cell(name, "round trip"), cold]
          end

          def round_trips(group, comparison)
            names = comparison.ranking("round trip")
            least, most = names.values_at(0, -1).map { |name| time(comparison.median(name, "round trip")) }
            Document::Intervals.build(
              title: "There and back: #{group}", rows: dots(group, "round trip"),
              x: { title: "time of a round trip", scale: "log", format: "seconds" },
              sentence: "There and back takes from #{least} (#{names.first}) to #{most} (#{names.last})."
            )
          end

          def parts(group, comparison)
            names = comparison.ranking("round trip")
            rows = names.map do |name|
              { label: label(name, group), highlight: name == "larder",
                values: %w[serialize deserialize].map { |operation| comparison.median(name, operation) } }
            end
            Document::Stacked.build(title: "Which direction takes the time: #{group}", parts: %w[serialize deserialize],
                                    x: { title: "time per call", format: "seconds" }, rows: rows,
                                    sentence: "Of there and back, serializing is #{shares(names, comparison)}.")
          end

          def shares(names, comparison)
            shares = names.map do |name|
              there, back = %w[serialize deserialize].map { |operation| comparison.median(name, operation) }
              "#{Figures.percent(there / (there + back))} with #{name}"
            end
            enumerated(shares)
          end

          def conclusions
            groups.flat_map do |group|
              keeping = @results.measured(group).select { |name| @results.size(name, group).keeps }
              best = winner(group, "round trip", keeping)
              best ? ["#{group}, there and back, of what brings back the value itself: #{best}."] : []
            end
          end

          def published
            comparison = @comparisons["books"]
            known = Published::SERIALIZERS.select { |name, _| comparison.median(name, "round trip") }
            return if known.empty?

            base = known.key?(BASE) ? BASE : known.keys.first
            section("Beside the published figures (#{Published::SOURCE})",
                    Document::Table.build(columns: published_columns(base),
                                          rows: known.map { |name, facts| beside(name, facts, comparison, base) }))
          end

          def published_columns(base)
            ["round trip", "serialize"].flat_map do |what|
              [*pair("#{what} i/s", "number", "rate", 1), *pair("#{what}, times #{base}", "ratio", "ratio")]
            end.unshift({ title: "" })
          end

          def beside(name, (title, *rates), comparison, base)
            bases = Published::SERIALIZERS.fetch(base).drop(1)
            cells = ["round trip", "serialize"].each_with_index.flat_map do |operation, at|
              [rates[at], comparison.median(name, operation), bases[at] / rates[at],
               comparison.cell(name, operation, base)]
            end
            [title, *cells]
          end
        end
      end
    end
  end
end
