# frozen_string_literal: true

require_relative "base"

module Larder
  module Lab
    module Trials
      module Chapters
        # `larder-lab matrix`: each cell end to end, and where its time goes.
        class Cells < Base
          KEY = "matrix"
          TITLE = "Serializer × compressor × store, end to end"
          LEAD = "A value is written and read through Rails' cache API. Reads and writes are end to end, the steps " \
                 "were measured by themselves: a store's call hides serializing and compressing."
          OPERATIONS = %w[read write].freeze
          WRITING = %w[serialize compress store].freeze
          READING = %w[load decompress deserialize].freeze
          # What the article recommends, as far as names of cells go.
          RECOMMENDED = ["message_pack snappy memcached", "message_pack lz4_flex memcached",
                         "message_pack lz4 memcached"].freeze

          private

          def group_section(group, comparison)
            charts = { "read" => READING, "write" => WRITING }
            section(@plan.titles.fetch(group), table(group, comparison),
                    *charts.map { |what, parts| steps(what, parts, group, comparison) })
          end

          def table(group, comparison)
            columns = [{ title: "serializer" }, { title: "compressor" }, { title: "store" },
                       { title: "bytes", format: "integer" }, { title: "read µs", format: "micros" },
                       { title: "write µs", format: "micros" }, { title: "most of a read", optional: 1 },
                       *(WRITING + READING).map { |step| { title: "#{step} µs", format: "micros", optional: 3 } },
                       { title: "read times the best", format: "ratio", optional: 2 }]
            rows = comparison.ranking("read").map { |name| cells(name, group, comparison) }
            refused = refused(group).map { |name, why| [*name.split, why] }
            Document::Table.build(columns: columns, rows: rows + refused, notes: notes(group))
          end

          def cells(name, group, comparison)
            serializer, compressor, store = name.split
            size = @results.size(name, group)
            ["#{serializer}#{" *" unless size.keeps}", compressor, store, size.bytes,
             *OPERATIONS.map { |operation| comparison.median(name, operation) }, most(name, comparison),
             *(WRITING + READING).map { |step| comparison.median(name, step) },
             comparison.cell(name, "read", comparison.ranking("read").first)]
          end

          def most(name, comparison)
            steps = READING.to_h { |step| [step, comparison.median(name, step) || 0.0] }
            step, seconds = steps.max_by(&:last)
            "#{step} #{(100 * seconds / steps.values.sum).round} %"
          end

          def steps(what, parts, group, comparison)
            names = comparison.ranking(what)
            rows = names.map do |name|
              { label: name, highlight: name.end_with?(" larder"),
                values: parts.map { |part| comparison.median(name, part) } }
            end
            Document::Stacked.build(title: "Where the time of a #{what} goes: #{group}", parts: parts, rows: rows,
                                    x: { title: "time per call", format: "seconds" },
                                    sentence: shares(what, parts, names, comparison))
          end

          # How much of it is the store.
          def shares(what, parts, names, comparison)
            store = parts & %w[store load]
            shares = names.to_h do |name|
              all = parts.sum { |part| comparison.median(name, part) || 0.0 }
              [name, comparison.median(name, store.first) / all]
            end
            (least, low), (most, high) = shares.minmax_by(&:last)
            "Of the steps of a #{what}, the store's own is from #{Figures.percent(low)} (#{least}) to " \
              "#{Figures.percent(high)} (#{most}); serializing and compressing are the rest."
          end

          def conclusions
            groups.flat_map do |group|
              comparison = @comparisons[group]
              [*OPERATIONS.filter_map do |operation|
                best = winner(group, operation)
                best && "#{group}, #{operation}: #{best}."
              end, *by_store(group, comparison), recommended(group, comparison)].compact
            end
          end

          # The best cell of each store.
          def by_store(group, comparison)
            best = comparison.ranking("read").group_by { |name| name.split.last }.transform_values(&:first)
            return [] if best.size < 2

            parts = best.map { |_, name| "#{name} #{time(comparison.median(name, "read"))}" }
            ["#{group}, the fastest read of each store: #{enumerated(parts)}."]
          end

          def recommended(group, comparison)
            name = RECOMMENDED.find { |cell| @results.measured(group).include?(cell) } or return
            best = comparison.ranking("read").first
            ratio = comparison.ratio(name, "read", best)
            return unless ratio && name != best

            "Recommended elsewhere is MessagePack with Snappy or LZ4 in memcached: here #{name} reads in " \
              "#{time(comparison.median(name, "read"))}, #{Figures.significant(ratio.value)} times as long as #{best}."
          end
        end
      end
    end
  end
end
