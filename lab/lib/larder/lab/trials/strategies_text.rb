# frozen_string_literal: true

# Owns the report of strategies for people: what was published beside what was measured, cold and warm, and where one
# strategy overtakes another.

require_relative "text"

module Larder
  module Lab
    module Trials
      # A table for each length of list.
      class StrategiesText < Text
        # N => name => [read ms, write ms, MB]
        PUBLISHED = {
          "50,000 records" => { "binary" => [498, 410, 4.9], "xml" => [311, 792, 9.8], "json" => [174, 446, 6.6],
                                "protobuf" => [88, 373, 3.5] },
          "50 records" => { "binary" => [6, 16, nil], "xml" => [13, 65, nil], "json" => [8, 47, nil],
                            "protobuf" => [15, 174, nil] }
        }.freeze

        private

        def title
          "larder-lab strategies"
        end

        def to_sections
          super + [section("Where strategies cross", crossings)]
        end

        def table(group, comparison)
          table = Reports::Table.new(:left, *([:right] * 8))
          table.row("", "MB", "cold read", "cold write", "read", "write", "server", "read there", "write there")
          comparison.ranking("read").each { |name| table.row(*cells(name, group, comparison)) }
          table.lines(width: @room)
        end

        def cells(name, group, comparison)
          there = PUBLISHED.dig(group, name) || []
          measured = ["cold read", "cold write", "read", "write"].map { |what| ms(comparison.median(name, what)) }
          [label(name, group), megabytes(@results.size(name, group).bytes), *measured,
           ms(@results.server(name, group)&.fetch("get_seconds")), there[0] || "-", there[1] || "-"]
        end

        def words(group, _comparison)
          [*likeness_note(group), "ms; read there and write there: measured elsewhere, in other languages"]
        end

        # Which is read and written fastest, by length.
        def crossings
          return [] if @plan.groups.size < 3

          @plan.groups.map do |group|
            comparison = Comparison.new(@results, group)
            best = %w[read write].map { |what| "#{what} #{comparison.ranking(what).first}" }
            "#{group.rjust(16)}: fastest #{best.join(", ")}"
          end
        end

        def megabytes(bytes)
          bytes < 100_000 ? format("%.4f", bytes / 1e6) : format("%.2f", bytes / 1e6)
        end

        def ms(seconds)
          seconds ? Figures.significant(seconds * 1e3) : "-"
        end
      end
    end
  end
end
