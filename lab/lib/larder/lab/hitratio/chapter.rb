# frozen_string_literal: true

# Builds the report chapter of `larder-lab hitratio`: misses by trace, size and policy, published figures beside them,
# and conclusions.

require "tmpdir"
require_relative "../document"
require_relative "../environment"
require_relative "../reports/figures"
require_relative "published"
require_relative "replay"

module Larder
  module Lab
    module Hitratio
      # Rows of outcomes as a chapter.
      class Chapter
        LEAD = "Every object of a trace is read, and stored on a miss. Larder runs in a file of exactly the size " \
               "under test; the simulations of other policies have no overhead."
        COLUMNS = [{ title: "size" }, { title: "bytes", format: "integer", optional: 1 }, { title: "policy" },
                   { title: "misses", format: "share" }, { title: "to LRU", format: "points" },
                   { title: "to Belady", format: "percent" },
                   { title: "bytes missed", format: "share", optional: 2 }].freeze
        NOTE = "to LRU: points above (+) or below (-) it; to Belady: the part of the distance from LRU to it that is " \
               "covered. Belady's minimum cannot be reached"
        ARC = "ARC's paper knows pages of one size; how its target moves with objects of many is each simulator's own."
        Figures = Reports::Figures
        private_constant :COLUMNS, :LEAD, :NOTE, :ARC

        # @param rows [Array<Row>]
        # @param facts [Array<String>] how it was run
        def initialize(rows, facts: [])
          @rows = rows
          @facts = facts
          @policies = rows.first.outcomes.map(&:policy)
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(key: "hitratio", title: "Hit ratios", lead: LEAD, facts: @facts, warnings: warnings,
                                conclusions: conclusions, sections: sections, measures: measures, details: details)
        end

        # The part that is covered of the distance from LRU to Belady, over all rows in which the two differ.
        # @param policy [String]
        # @return [Float, nil] the mean
        def mean_to_belady(policy)
          parts = @rows.filter_map { |row| row.to_belady(policy) }
          parts.sum / parts.size unless parts.empty?
        end

        # @param policy [String]
        # @return [Float, nil] the largest excess over LRU's miss ratio, negative where there is none
        def worst(policy)
          @rows.filter_map { |row| above_lru(row, policy) }.max
        end

        private

        def sections
          published = @rows.select { |row| Published.misses(row) }
          [*by_trace.map { |name, rows| trace(name, rows) },
           (beside(published) if published.any?), (summary if @rows.size > 1)].compact
        end

        def by_trace
          @rows.group_by(&:trace)
        end

        def trace(name, rows)
          title = "#{name}: #{Figures.thousands(rows.first.requests)} requests"
          # Where all objects are of one size, bytes say nothing that requests do not.
          columns = rows.first.object_bytes ? COLUMNS[0..-2] : COLUMNS
          lines = rows.flat_map { |row| lines(row).map { |cells| cells.first(columns.size) } }
          table = Document::Table.build(columns: columns, rows: lines, notes: chosen_sizes(rows))
          Document::Section.new(title: title, blocks: [table, (curves(name, rows) if rows.size > 1)].compact)
        end

        def lines(row)
          row.outcomes.each_with_index.map do |outcome, at|
            place = at.zero? ? [row.size, row.capacity] : ["", ""]
            policy = outcome.policy
            [*place, policy, row.miss_ratio(policy), above_lru(row, policy), row.to_belady(policy),
             outcome.missed_bytes.fdiv(row.requested_bytes)]
          end
        end

        def above_lru(row, policy)
          lru = row.miss_ratio("lru")
          lru && (row.miss_ratio(policy) - lru)
        end

        def chosen_sizes(rows)
          return [] unless rows.first.object_bytes

          sizes = rows.map { |row| "#{row.object_bytes} at #{row.size}" }
          ["The trace does not say how large objects are; taken as #{sizes.join(", ")} bytes."]
        end

        def curves(name, rows)
          sorted = rows.sort_by { |row| share(row) }
          series = @policies.map do |policy|
            { label: policy, highlight: policy == "larder",
              points: sorted.map { |row| [share(row), row.miss_ratio(policy)] } }
          end
          Document::Curves.build(title: "Misses by size of the cache: #{name}", sentence: spoken(name, sorted),
                                 x: { title: "cache, of the bytes of all objects", scale: "log", format: "share" },
                                 y: { title: "misses, of all requests", format: "share" }, series: series)
        end

        # Of all bytes. A cache's own bytes are no measure where those of objects are chosen by its size.
        def share(row)
          row.capacity.fdiv(row.footprint)
        end

        def spoken(name, sorted)
          least, most = sorted.values_at(0, -1)
          parts = @policies.map do |policy|
            "#{policy} from #{Figures.percent(least.miss_ratio(policy))} to #{Figures.percent(most.miss_ratio(policy))}"
          end
          "#{name}: from #{least.size} to #{most.size} of cache, misses of #{parts.join(", ")}."
        end

        def beside(rows)
          columns = [{ title: "policy" }, *rows.flat_map do |row|
            [{ title: "misses there", format: "integer", group: row.size },
             { title: "here", format: "integer", group: row.size },
             { title: "here/there", format: "number", group: row.size },
             { title: "of LRU's there", format: "share", group: row.size, optional: 1 },
             { title: "here", format: "share", group: row.size, optional: 1 }]
          end]
          policies = Published::MISSES.keys | @policies
          cells = policies.map { |policy| [policy, *rows.flat_map { |row| pair(row, policy) }] }
          Document::Section.new(title: "Beside the published misses (measured elsewhere)",
                                blocks: [Document::Table.build(columns: columns, rows: cells, notes: [ARC])])
        end

        def pair(row, policy)
          published = Published.misses(row)
          there = published[policy]
          here = misses(row, policy)
          lru = misses(row, "lru")
          [there, here, there && here && here.fdiv(there), there&.fdiv(published["lru"]), here && lru && here.fdiv(lru)]
        end

        def misses(row, policy)
          row.outcomes.find { |outcome| outcome.policy == policy }&.misses
        end

        def summary
          columns = [{ title: "policy" }, { title: "mean to Belady", format: "percent" },
                     { title: "worst to LRU", format: "points" }]
          rows = @policies.map { |policy| [policy, mean_to_belady(policy), worst(policy)] }
          table = Document::Table.build(columns: columns, rows: rows, notes: [NOTE])
          Document::Section.new(title: "All traces and sizes: #{@rows.size}", blocks: [table])
        end

        def conclusions
          own = (["larder"] & @policies).flat_map { |policy| [above(policy), covered(policy), copied(policy)] }
          [*own, above_net, *reproduced].compact
        end

        def above_net
          row = @rows.select(&:above_net_lru).max_by(&:above_net_lru) or return
          "At equal net bytes, those of the objects alone, larder's misses are at most " \
            "#{format("%+.2f", row.above_net_lru * 100)} points from those of exact LRU (#{row.trace} at #{row.size})."
        end

        def above(policy)
          worst = worst(policy) or return
          row = @rows.max_by { |candidate| above_lru(candidate, policy) }
          where = "#{row.trace} at #{row.size}"
          if worst.positive?
            "#{policy} misses at most #{format("%.2f", worst * 100)} points more than exact LRU (#{where})."
          else
            "#{policy} misses nowhere more than exact LRU; it is closest with #{format("%+.2f", worst * 100)} points " \
              "(#{where})."
          end
        end

        def covered(policy)
          parts = (@policies - %w[lru belady]).to_h { |name| [name, mean_to_belady(name)] }.compact
          mine = parts.delete(policy) or return
          others = parts.sort_by { |_, part| -part }.map { |name, part| "#{name} #{Figures.percent(part)}" }
          "#{policy} covers #{Figures.percent(mine)} of the distance from LRU to Belady in the mean" \
            "#{"; #{others.join(", ")}" if others.any?}."
        end

        # How long a set may take longer than others.
        def copied(policy)
          most, row = @rows.filter_map do |candidate|
            most = candidate.outcomes.find { |outcome| outcome.policy == policy }&.stats&.dig(:most_copied)
            [most, candidate] if most
          end.max_by(&:first)
          most && "#{policy} copied at most #{most} objects in one set to make room (#{row.trace} at #{row.size})."
        end

        # Whether the simulations are those that the published figures are of.
        def reproduced
          ratios = @rows.flat_map do |row|
            (Published.misses(row) || {}).filter_map { |policy, there| misses(row, policy)&.fdiv(there) }
          end
          return [] if ratios.empty?

          ["The simulations miss #{format("%.3f", ratios.min)} to #{format("%.3f", ratios.max)} times as often as " \
           "published (#{ratios.size} figures)."]
        end

        def warnings
          few = by_trace.select { |_, rows| rows.first.requests < 10_000 }.keys
          return [] if few.empty?

          ["Few requests: #{few.join(", ")}. First requests, which always miss, weigh more than policies."]
        end

        def measures
          @rows.flat_map do |row|
            @policies.map do |policy|
              Document::Measure.new(key: key(row, policy), label: "#{policy}: misses, #{row.trace} at #{row.size}",
                                    unit: "share", better: "lower", samples: [row.miss_ratio(policy)])
            end
          end
        end

        def key(row, policy)
          ["hitratio", row.trace.tr("/", ":"), row.size, policy].join("/")
        end

        def details
          { environment: Environment.facts(Dir.tmpdir), rows: @rows.map { |row| detail(row) } }
        end

        def detail(row)
          outcomes = row.outcomes.map { |outcome| numbers(row, outcome) }
          row.to_h.merge(outcomes: outcomes, above_net_lru: row.above_net_lru)
        end

        def numbers(row, outcome)
          outcome.to_h.compact.merge(miss_ratio: row.miss_ratio(outcome.policy),
                                     byte_miss_ratio: outcome.missed_bytes.fdiv(row.requested_bytes),
                                     to_belady: row.to_belady(outcome.policy))
        end
      end
    end
  end
end
