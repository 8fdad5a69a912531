# frozen_string_literal: true

# Builds the report chapter of `larder-lab hitratio`: the published misses with those that were counted here, and misses
# by trace, size and policy.

require "tmpdir"
require_relative "../document"
require_relative "../environment"
require_relative "../reports/figures"
require_relative "published"
require_relative "replay"

module Larder
  module Lab
    module Hitratio
      # Rows as a chapter.
      class Chapter
        LEAD = "Every object of a trace is read, and stored on a miss. Larder runs in a file of exactly the size " \
               "under test; the simulations of other policies have no overhead."
        COLUMNS = [{ title: "size" }, { title: "bytes", format: "integer", optional: 1 }, { title: "policy" },
                   { title: "misses", format: "share" }, { title: "to LRU", format: "points" },
                   { title: "to Belady", format: "percent" },
                   { title: "bytes missed", format: "share", optional: 2 }].freeze
        NOTE = "to LRU: points above (+) or below (-) it; to Belady: the part of the distance from LRU to it that is " \
               "covered. Belady's minimum cannot be reached."
        ABSENT = "no trace"
        UNTRIED = "not replayed"
        NOTES = ["there: published, measured elsewhere; of LRU's: misses as a share of those of LRU.",
                 "#{ABSENT}: #{Published::TRACE} took no part, or not at this size: larder-lab hitratio " \
                 "#{Published::TRACE}; #{UNTRIED}: this policy did not run.",
                 *Published::ARTICLE.remarks].freeze
        Figures = Reports::Figures
        private_constant :LEAD, :COLUMNS, :NOTE, :NOTES

        # @param facts [Array<String>] how it was run
        def initialize(rows, facts: [])
          @rows = rows
          @facts = facts
          @policies = rows.first.outcomes.map(&:policy)
        end

        # @return [Document::Chapter]
        def to_chapter
          Document::Chapter.new(key: "hitratio", title: "Hit ratios", lead: LEAD, facts: @facts, warnings: warnings,
                                conclusions: conclusions, measures: measures, details: details,
                                sections: [published, *traces])
        end

        private

        def published
          columns = [{ title: "policy" }, *Published::SIZES.keys.flat_map do |size|
            [["there", "integer"], ["here", "integer"], ["here/there", "number"], ["of LRU's there", "share"],
             ["of LRU's here", "share"]].each_with_index.map do |(title, format), at|
              { title: title, format: format, group: size, optional: (1 if at > 2) }
            end
          end]
          cells = (Published::ROWS.keys | @policies).map do |policy|
            [Published::ROWS.dig(policy, 0) || policy, *Published::SIZES.values.flat_map { |size| pair(policy, size) }]
          end
          table = Document::Table.build(columns: columns, rows: cells, notes: NOTES)
          Document::Section.new(title: "The published misses", headline: true, blocks: [table, loops])
        end

        def pair(policy, capacity)
          there, lru = [policy, "lru"].map { |name| Published.misses(name, capacity) }
          row = published_row(capacity)
          here = row ? row.outcome(policy)&.misses || UNTRIED : ABSENT
          own = row&.outcome("lru")&.misses
          counted = here.is_a?(Integer)
          [there, here, (here.fdiv(there) if there && counted), there&.fdiv(lru), (here.fdiv(own) if own && counted)]
        end

        def published_row(capacity) = @rows.find { |row| row.capacity == capacity && Published.row?(row) }

        def loops
          policies = [Published::LOOPS.faster, Published::LOOPS.slower]
          rows = @rows.select { |row| row.trace.match?(Published::LOOP) }
          cells = rows.map { |row| ["#{row.trace} at #{row.size}", *policies.map { |policy| row.miss_ratio(policy) }] }
          cells = [["loop, lirs-*.trace.gz", ABSENT, ABSENT]] if cells.empty?
          names = policies.map { |policy| Published::ROWS.dig(policy, 0) }
          Document::Table.build(
            caption: "Published: #{Published::LOOPS.label}: #{names.first} misses less often than #{names.last}.",
            columns: [{ title: "trace" }, *names.map { |name| { title: "#{name} misses", format: "share" } }],
            rows: cells
          )
        end

        def traces
          @rows.group_by(&:trace).map do |name, rows|
            # Where all objects are of one size, bytes say nothing that requests do not.
            columns = rows.first.object_bytes ? COLUMNS[0..-2] : COLUMNS
            table = Document::Table.build(columns: columns, notes: [*sizes(rows), NOTE],
                                          rows: rows.flat_map { |row| lines(row, columns.size) })
            Document::Section.new(title: "#{name}: #{Figures.thousands(rows.first.requests)} requests",
                                  blocks: [table, (curves(name, rows) if rows.size > 1)].compact)
          end
        end

        def lines(row, width)
          row.outcomes.each_with_index.map do |outcome, at|
            policy = outcome.policy
            [*(at.zero? ? [row.size, row.capacity] : ["", ""]), policy, row.miss_ratio(policy), row.above_lru(policy),
             row.to_belady(policy), outcome.missed_bytes.fdiv(row.requested_bytes)].first(width)
          end
        end

        def sizes(rows)
          return [] unless rows.first.object_bytes

          bytes = rows.map { |row| "#{row.object_bytes} at #{row.size}" }
          ["The trace does not say how large objects are; taken as #{bytes.join(", ")} bytes."]
        end

        # Sizes are shares of all bytes: bytes say nothing where the lab chooses the size of objects.
        def curves(name, rows)
          points = @policies.to_h do |policy|
            [policy, rows.map { |row| [row.capacity.fdiv(row.footprint), row.miss_ratio(policy)] }.sort]
          end
          spoken = points.map do |policy, line|
            "#{policy} from #{line.values_at(0, -1).map { |_, misses| Figures.percent(misses) }.join(" to ")}"
          end
          Document::Curves.build(
            title: "Misses by size of the cache: #{name}", sentence: "#{name}: misses of #{spoken.join(", ")}.",
            x: { title: "cache, of the bytes of all objects", scale: "log", format: "share" },
            y: { title: "misses, of all requests", format: "share" },
            series: points.map { |policy, line| { label: policy, highlight: policy == "larder", points: line } }
          )
        end

        def covered(policy)
          parts = @rows.filter_map { |row| row.to_belady(policy) }
          parts.sum / parts.size if parts.any?
        end

        # @return [Array(Float, Row), nil] the largest excess over LRU's miss ratio, and where
        def worst(policy) = @rows.filter_map { |row| (above = row.above_lru(policy)) && [above, row] }.max_by(&:first)

        def conclusions = [*(@policies.include?("larder") ? [above, mean, net, apart] : []), reproduced].compact

        def above
          points, row = worst("larder")
          return unless points

          where = "points (#{row.trace} at #{row.size})"
          most = format("%+.2f", points * 100)
          "larder misses #{"nowhere more than exact LRU: " unless points.positive?}at most #{most} #{where}" \
            "#{" more than exact LRU" if points.positive?}."
        end

        def mean
          mine = covered("larder") or return
          others = (@policies - %w[larder lru belady]).filter_map { |name| (part = covered(name)) && [name, part] }
          named = others.sort_by { |_, part| -part }.map { |name, part| "#{name} #{Figures.percent(part)}" }
          "larder covers #{Figures.percent(mine)} of the distance from LRU to Belady in the mean" \
            "#{"; #{named.join(", ")}" if named.any?}."
        end

        def apart
          row = @rows.select(&:apart).max_by(&:apart) or return
          "Rounds of larder differ by at most #{format("%.2f", row.apart * 100)} points (#{row.trace} at #{row.size})."
        end

        def net
          row = @rows.select(&:above_net_lru).max_by(&:above_net_lru) or return
          "At equal net bytes, those of the objects alone, larder's misses are at most " \
            "#{format("%+.2f", row.above_net_lru * 100)} points from those of exact LRU (#{row.trace} at #{row.size})."
        end

        # Whether the simulations are those of the published figures.
        def reproduced
          ratios = Published::ROWS.keys.product(Published::SIZES.values).filter_map do |policy, size|
            published_row(size)&.outcome(policy)&.misses&.fdiv(Published.misses(policy, size))
          end
          all = Published::ROWS.size * Published::SIZES.size
          return "None of the #{all} published figures was repeated: #{Published::TRACE} took no part." if ratios.empty?

          "The simulations miss #{format("%.3f", ratios.min)} to #{format("%.3f", ratios.max)} times as often as " \
            "published (#{ratios.size} of #{all} figures)."
        end

        def warnings
          @rows.select { |row| row.requests < 10_000 }.map(&:trace).uniq.map do |name|
            "#{name}: few requests. First requests, which always miss, weigh more than policies."
          end
        end

        def measures
          @rows.product(@policies).map do |row, policy|
            Document::Measure.new(key: ["hitratio", row.trace.tr("/", ":"), row.size, policy].join("/"),
                                  label: "#{policy}: misses, #{row.trace} at #{row.size}",
                                  unit: "share", better: "lower", samples: row.miss_ratios(policy))
          end
        end

        def details
          rows = @rows.map do |row|
            row.to_h.merge(above_net_lru: row.above_net_lru, apart: row.apart, outcomes: row.outcomes.map do |outcome|
              outcome.to_h.compact.merge(miss_ratio: row.miss_ratio(outcome.policy),
                                         to_belady: row.to_belady(outcome.policy))
            end)
          end
          { environment: Environment.facts(Dir.tmpdir), rows: rows }
        end
      end
    end
  end
end
