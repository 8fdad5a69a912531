# frozen_string_literal: true

require_relative "base"

module Larder
  module Lab
    module Trials
      module Chapters
        # `larder-lab strategies`: lists of records in Redis, cold beside warm, and where one strategy overtakes
        # another.
        class Strategies < Base
          KEY = "strategies"
          TITLE = "Strategies by type: lists of records in Redis"
          LEAD = "The client's time with the serializer's. The published figures are of first calls; here the first " \
                 "call of a process and a warm process are told apart, and sizes are the server's."
          OPERATIONS = ["read", "write", "cold read", "cold write"].freeze
          SHOWN = { "cold read" => "first read", "cold write" => "first write" }.freeze
          BASE = "binary"

          private

          def to_sections
            [*groups.flat_map { |group| [group_section(group, @comparisons[group]), published(group)] }, crossings]
              .compact
          end

          def group_section(group, comparison)
            section(@plan.titles.fetch(group), table(group, comparison), reads(group, comparison))
          end

          def table(group, comparison)
            columns = [{ title: "" }, { title: "bytes", format: "bytes" },
                       { title: "first read ms", format: "millis" }, { title: "first write ms", format: "millis" },
                       { title: "read ms", format: "millis" }, { title: "write ms", format: "millis" },
                       { title: "server ms", format: "millis", optional: 1 },
                       { title: "server holds", format: "bytes", optional: 2 },
                       { title: "read times #{comparison.base}", format: "ratio", optional: 3 }]
            cells = rows(group, "read") { |name| cells(name, group, comparison) }
            Document::Table.build(columns: columns, rows: cells, notes: notes(group))
          end

          def cells(name, group, comparison)
            server = @results.server(name, group) || {}
            [@results.size(name, group).bytes,
             *["cold read", "cold write", "read", "write"].map { |operation| comparison.median(name, operation) },
             server["get_seconds"], server["memory"], comparison.cell(name, "read")]
          end

          def reads(group, comparison)
            names = comparison.ranking("read")
            least, most = names.values_at(0, -1).map { |name| time(comparison.median(name, "read")) }
            Document::Intervals.build(
              title: "Reading #{group}", x: { title: "time of a read", scale: "log", format: "seconds" },
              rows: dots(group, "read", ours: "native"),
              sentence: "In a warm process a read takes from #{least} (#{names.first}) to #{most} (#{names.last})."
            )
          end

          # N, or nil where it is not a list of that many records.
          def length(group)
            group.delete(",").to_i
          end

          def published(group)
            facts = Published::STRATEGIES[length(group)] or return
            known = facts.select { |name, _| @comparisons[group].median(name, "read") }
            return if known.empty?

            section("#{group} beside the published figures (#{Published::STRATEGIES_SOURCE})",
                    *%w[read write].map { |operation| beside(group, known, operation) },
                    (sizes_beside(group, known) if known.values.any?(&:last)))
          end

          # The first calls are beside what was published, for that was of first calls.
          def beside(group, known, operation)
            comparison = @comparisons[group]
            base = known.key?(BASE) ? BASE : known.keys.first
            at = %w[read write].index(operation)
            rows = known.map do |name, there|
              times = comparison.cell(name, "cold #{operation}", base)
              [label(name, group), there[at], comparison.median(name, "cold #{operation}"),
               comparison.median(name, operation), there[at].fdiv(known[base][at]),
               times.is_a?(Hash) ? times.slice("value", "same") : times, comparison.cell(name, operation, base)]
            end
            Document::Table.build(caption: operation.capitalize, columns: published_columns(base), rows: rows)
          end

          def published_columns(base)
            { "ms" => %w[number millis millis], "times #{base}" => %w[ratio ratio ratio] }
              .flat_map do |group, formats|
                ["there", "first call", "warm"].zip(formats).map do |title, format|
                  { title: title, format: format, group: group, align: title == "warm" ? nil : "right" }
                end
              end.unshift({ title: "" })
          end

          def sizes_beside(group, known)
            rows = known.map { |name, (*, size)| [label(name, group), size * 1e6, @results.size(name, group).bytes] }
            Document::Table.build(columns: [{ title: "" }, { title: "size there", format: "bytes" },
                                            { title: "size here", format: "bytes" }], rows: rows)
          end

          # Who is fastest at which length, and curves over the lengths.
          def crossings
            return if groups.size < 2

            operations = ["read", "write", "cold read", "cold write"]
            columns = [{ title: "records", format: "integer" },
                       *operations.map { |operation| { title: "fastest #{shown(operation)}", format: "text" } }]
            rows = ascending.map do |group|
              [length(group), *operations.map { |operation| @comparisons[group].ranking(operation).first }]
            end
            section("Where strategies cross", Document::Table.build(columns: columns, rows: rows),
                    *operations.map { |operation| curve(operation) })
          end

          def names
            @plan.groups.flat_map { |group| @plan.names(group) }.uniq
          end

          def ascending
            groups.sort_by { |group| length(group) }
          end

          def shown(operation)
            SHOWN.fetch(operation, operation)
          end

          def curve(operation)
            Document::Curves.build(
              title: "Time of a #{shown(operation)} by length", sentence: "#{fastest(operation)}.",
              x: { title: "records", scale: "log", format: "integer" },
              y: { title: "time of a #{shown(operation)}", scale: "log", format: "seconds" },
              series: names.filter_map { |name| series(name, operation) }
            )
          end

          def series(name, operation)
            points = ascending.filter_map do |group|
              seconds = @comparisons[group].median(name, operation)
              [length(group), seconds] if seconds
            end
            { label: name, points: points, highlight: name == "native" } if points.any?
          end

          def fastest(operation)
            best = ascending.map do |group|
              comparison = @comparisons[group]
              name = comparison.ranking(operation).first
              "#{name} with #{group} (#{time(comparison.median(name, operation))})"
            end
            "The fastest #{shown(operation)}: #{best.join(", ")}"
          end

          def conclusions
            groups.flat_map do |group|
              %w[read write].filter_map do |operation|
                best = winner(group, operation)
                best && "#{group}, #{operation} in a warm process: #{best}."
              end + [first_calls(group)].compact
            end
          end

          # What the published figures of short lists really show.
          def first_calls(group)
            comparison = @comparisons[group]
            factors = @results.measured(group).to_h do |name|
              [name, comparison.median(name, "cold write") / comparison.median(name, "write")]
            end
            name, factor = factors.max_by(&:last)
            return unless factor && factor > 2

            "#{group}: the first write of a process takes up to #{Figures.significant(factor)} times as long as " \
              "later ones (#{name})."
          end
        end
      end
    end
  end
end
