# frozen_string_literal: true

require "tmpdir"
require_relative "../document"
require_relative "../environment"
require_relative "../reports/figures"
require_relative "replay"

module Larder
  module Lab
    module Hitratio
      # Builds the report chapter of `larder-lab hitratio`: the published misses with those that were counted here, and
      # misses by trace, size and policy.
      class Chapter
        LEAD = "Every object of a trace is read, and stored on a miss. Larder runs in a file of exactly the size " \
               "under test; the simulations of other policies have no overhead."
        NOTE = "Belady's minimum cannot be reached: it knows the future."
        ABSENT = "no trace"
        UNTRIED = "not replayed"
        FILE = ARTICLE.trace["file"]
        NOTES = ["there: published, #{ARTICLE.source}; #{UNTRIED}: this policy did not run.",
                 "#{ABSENT}: it took no part, or not at this size: larder-lab hitratio #{FILE}.",
                 *ARTICLE.remarks].freeze
        # Traces of the finding about loops.
        LOOP = /\A(loop|lirs-)/
        NAMES = ARTICLE.tables.first.rows.transform_values(&:first).freeze
        Figures = Reports::Figures
        private_constant :LEAD, :NOTE, :NOTES, :LOOP, :NAMES, :FILE

        # `facts` say how it was run.
        def initialize(rows, facts: [])
          @rows = rows
          @facts = facts
          @policies = rows.first.misses.keys
        end

        def to_chapter
          Document::Chapter.new(key: "hitratio", title: "Hit ratios", lead: LEAD, facts: @facts, warnings: warnings,
                                conclusions: conclusions, measures: measures,
                                details: { environment: Environment.facts(Dir.tmpdir), rows: @rows.map(&:to_h) },
                                sections: [published, *traces])
        end

        private

        def published
          columns = [["there", "integer"], ["here", "integer"], ["here/there", "number"]]
          columns = SIZES.product(columns).map { |size, (title, format)| { title: title, format: format, group: size } }
          cells = (NAMES.keys | @policies).map do |policy|
            [NAMES.fetch(policy, policy), *SIZES.each_index.flat_map { |at| pair(policy, at) }]
          end
          table = Document::Table.new(columns: ["policy", *columns], rows: cells, notes: [*NOTES, loops])
          Document::Section.new(title: "The published misses", headline: true, blocks: [table])
        end

        def pair(policy, at)
          there = ARTICLE.tables.first.rows.dig(policy, at + 1)
          row = @rows.find { |each| each.size == SIZES[at] && each.published("lru") } or return [there, ABSENT, nil]
          here = row.misses[policy]
          [there, here || UNTRIED, (here.fdiv(there) if there && here)]
        end

        # The finding about loops, and in how many rows it holds here.
        def loops
          finding = ARTICLE.findings.first
          pair = [finding.faster, finding.slower]
          better, worse = NAMES.values_at(*pair)
          misses = @rows.select { |row| row.trace.match?(LOOP) }
                        .map { |row| pair.map { |policy| row.miss_ratio(policy) } }.select(&:all?)
          here = misses.empty? ? ABSENT : "so in #{misses.count { |one, other| one < other }} of #{misses.size} rows"
          "Published: #{finding.label}: #{better} misses less often than #{worse}. Here: #{here}."
        end

        def traces
          @rows.group_by(&:trace).map do |name, rows|
            columns = rows.map { |row| { title: row.size, format: "share", group: "misses" } }
            lines = @policies.map { |policy| [policy, *rows.map { |row| row.miss_ratio(policy) }] }
            table = Document::Table.new(columns: ["policy", *columns], rows: lines,
                                        notes: [*rows.map { |row| size(row) }, NOTE])
            Document::Section.new(title: "#{name}: #{Figures.thousands(rows.first.requests)} requests",
                                  blocks: [table, (curves(name, rows) if rows.size > 1)])
          end
        end

        def size(row)
          objects = ", of objects of #{Figures.thousands(row.object_bytes)}" if row.object_bytes
          small = row.misses.select { |_, misses| misses.nil? }.keys.map do |policy|
            " #{policy} did not run: it needs #{Figures.thousands(Policies.fetch(policy).least)} bytes."
          end
          "#{row.size}: a cache of #{Figures.thousands(row.capacity)} bytes#{objects}.#{small.join}"
        end

        # Sizes are shares of all bytes: bytes say nothing where the lab chooses the size of objects.
        def curves(name, rows)
          series = @policies.map do |policy|
            points = rows.map { |row| [row.capacity.fdiv(row.footprint), row.miss_ratio(policy)] }
            { "label" => policy, "points" => points.select(&:last).sort }
          end
          Document::Curves.new(
            title: "Misses by size of the cache: #{name}", sentence: "The table has the figures.",
            x: { title: "cache, of the bytes of all objects", scale: "log", format: "share" },
            y: { title: "misses, of all requests", format: "share" }, series: series
          )
        end

        def conclusions
          [(covered if @policies.include?("larder")),
           largest("Misses of larder minus those of exact LRU: at most %+.2f points") { |row| row.above_lru("larder") },
           largest("The same at equal net bytes, those of the objects alone: at most %+.2f points", &:above_net_lru),
           reproduced].compact
        end

        # The largest of a figure of rows, as a sentence.
        def largest(words, &figure)
          row = @rows.select(&figure).max_by(&figure) or return
          "#{format(words, figure.call(row) * 100)} (#{row.trace} at #{row.size})."
        end

        # Counts the rows whose policies all ran.
        def covered
          rows = @rows.reject { |row| row.misses.value?(nil) }
          parts = (@policies - %w[lru belady]).filter_map do |policy|
            all = rows.filter_map { |row| row.to_belady(policy) }
            [policy, all.sum / all.size] if all.any?
          end
          named = parts.sort_by { |_, part| -part }.map { |policy, part| "#{policy} #{Figures.percent(part)}" }
          "Part of the distance from LRU to Belady that was covered, in the mean: #{named.join(", ")}." if named.any?
        end

        # Whether the simulations are those of the published figures.
        def reproduced
          ratios = @rows.product(NAMES.keys).filter_map do |row, policy|
            there, here = row.published(policy), row.misses[policy]
            here.fdiv(there) if there && here
          end
          all = NAMES.size * SIZES.size
          return "None of the #{all} published figures was repeated: #{FILE} took no part." if ratios.empty?

          "The simulations miss #{format("%.3f", ratios.min)} to #{format("%.3f", ratios.max)} times as often as " \
            "published (#{ratios.size} of #{all} figures)."
        end

        def warnings
          @rows.select { |row| row.requests < 10_000 }.map(&:trace).uniq.map do |name|
            "#{name}: few requests. First requests, which always miss, weigh more than policies."
          end
        end

        def measures
          @rows.product(@policies).select { |row, policy| row.misses[policy] }.map do |row, policy|
            Document::Measure.new(key: ["hitratio", row.trace.tr("/", ":"), row.size, policy].join("/"),
                                  label: "#{policy}: misses, #{row.trace} at #{row.size}",
                                  unit: "share", better: "lower", samples: [row.miss_ratio(policy)])
          end
        end
      end
    end
  end
end
