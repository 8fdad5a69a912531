# frozen_string_literal: true

# The targets for Larder's sessions. Each is judged from the present run.

require_relative "../document"
require_relative "../statistics"

module Larder
  module Lab
    module Sessions
      # A table of promises, measured.
      class Goals
        # Sessions of it shall take so many times as long as Larder's, where they are read and left as they are.
        WORK = { "memcached" => 6.0, "activerecord-mariadb" => 10.0, "sql-mariadb" => 10.0 }.freeze
        # Seconds that they may take beyond a Hash of the process.
        ABOVE_FLOOR = 10e-6
        # With SQL sessions a request to this page shall take so many times as long as with Larder's: the best that was
        # published of memcached.
        PAGE = "/empty/index"
        SQL = "sql-mariadb"
        PAGE_FACTOR = 1.33
        WORDS = { reached: "reached", missed: "not reached", open: "not shown" }.freeze

        # @param parts [Hash{String=>Part}]
        # @param results [Loads::Results]
        def initialize(parts, results)
          @parts = parts
          @results = results
        end

        # @return [Document::Section, nil] nil without Larder
        def section
          rows = @results.measured?("larder") ? [*work_rows, *page_rows] : []
          return if rows.empty?

          columns = [{ title: "beside larder" }, { title: "wanted" }, { title: "measured", format: "ratio" },
                     { title: "" }]
          Document::Section.new(title: "What Larder sets out to reach", headline: true,
                                blocks: [Document::Table.build(columns: columns, rows: rows)])
        end

        private

        # Of the stores that take part.
        def chosen?(name)
          @results.plan.contenders.include?(name)
        end

        def work_rows
          part = @parts["work"] or return []

          ratios = part.ratios_of("unchanged")
          rows = WORK.select { |name, _| chosen?(name) }
                     .map { |name, factor| row("work of #{name}", ratios.estimate(name), factor) }
          chosen?(WorkPart::FLOOR) ? [*rows, above_floor(part)] : rows
        end

        def page_rows
          part = @parts["pages"]
          part && chosen?(SQL) ? [row("#{PAGE}, #{SQL}", part.ratios_of(PAGE).estimate(SQL), PAGE_FACTOR)] : []
        end

        def row(words, estimate, factor)
          [words, "≥ #{format("%g", factor)} ×", *outcome(estimate, estimate && judge_factor(estimate, factor))]
        end

        # In microseconds.
        def above_floor(part)
          above = part.above_floor("larder")
          judgement = judge(above) if above
          above &&= Statistics::Estimate.new(**%i[value low high].to_h { |end_of| [end_of, above[end_of] * 1e6] })
          ["work beyond a Hash's, µs", "≤ #{(ABOVE_FLOOR * 1e6).round}", *outcome(above, judgement)]
        end

        def judge_factor(estimate, factor)
          return :reached if estimate.low >= factor

          estimate.high < factor ? :missed : :open
        end

        def judge(above)
          return :reached if above.high <= ABOVE_FLOOR

          above.low > ABOVE_FLOOR ? :missed : :open
        end

        def outcome(estimate, judgement)
          return [nil, "not measured"] unless estimate

          [estimate.to_h.transform_keys(&:to_s), WORDS.fetch(judgement)]
        end
      end
    end
  end
end
