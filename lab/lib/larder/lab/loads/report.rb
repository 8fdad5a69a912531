# frozen_string_literal: true

# Builds what the chapters of all loads have in common: what was not measured and why, the software, and warnings.

require_relative "../contenders"
require_relative "../document"
require_relative "../warnings"
require_relative "../reports/figures"
require_relative "ratios"

module Larder
  module Lab
    module Loads
      # A subclass says its KEY and TITLE and implements {#lead}, {#sections}, {#conclusions} and {#measures}.
      class Report
        Figures = Reports::Figures
        D = Document

        # @param results [Results]
        def initialize(results)
          @results = results
          @plan = results.plan
        end

        # @return [Document::Chapter]
        def to_chapter
          some = @results.measured.any?
          D::Chapter.new(key: self.class::KEY, title: self.class::TITLE, lead: lead, facts: facts,
                         conclusions: some ? conclusions.compact : [], warnings: warnings,
                         sections: [*(sections if some), not_measured, software].compact,
                         measures: some ? measures : [], failed: failed?, details: details)
        end

        private

        attr_reader :results, :plan

        def lead; end

        def facts
          ["#{results.rounds} #{results.rounds == 1 ? "round" : "rounds"}", *own_facts, "seed #{plan.seed}"]
        end

        def own_facts
          []
        end

        def names
          results.measured.map(&:name)
        end

        # Without the second measurement of one.
        def once
          results.measured.reject { |row| row.name == results.twins.first }.map(&:name)
        end

        def type(name)
          registry.fetch(results.rows.find { |row| row.name == name }.contender)
        end

        def registry
          Contenders
        end

        # Stores that keep something and that all processes of a machine share.
        def shared
          once.select { |name| type(name).shared? && type(name).keeps_values? }
        end

        # Those that sentences tell of.
        def told
          shared.any? ? shared : once
        end

        def highlight?(name)
          name == "larder"
        end

        def ratios(samples)
          Ratios.new(samples, twins: results.twins, seed: plan.seed)
        end

        def capitalized(text)
          "#{text[0].upcase}#{text[1..]}"
        end

        def section(title, *blocks)
          blocks = blocks.flatten.compact
          D::Section.new(title: title, blocks: blocks) if blocks.any?
        end

        def failed?
          results.measured.empty? || results.rows.any? { |row| row.state == :invalid }
        end

        def not_measured
          rows = results.rows - results.measured
          items = rows.map { |row| "#{row.name}: #{"invalid, " if row.state == :invalid}#{row.reason}" }
          section("Not measured", (D::List.new(items: items) if items.any?))
        end

        def software
          all = results.measured.map { |row| row.versions.to_h }
          gems = all.flat_map(&:keys).uniq.map do |name|
            "#{name} #{all.filter_map { |versions| versions[name] }.uniq.join(" and ")}"
          end
          servers = results.measured.filter_map { |row| row.server&.fetch(:version) }.uniq
          section("Software", (D::List.new(items: [gems.join(", "), *servers]) if gems.any?))
        end

        def warnings
          [quick, few_rounds, Lab::Warnings.busy(results.environment), *own_warnings].compact
        end

        def few_rounds
          Lab::Warnings.few(results.rounds)
        end

        def own_warnings
          []
        end

        def quick
          "Quick run: little time." if plan.quick
        end

        # Reads of what ought to be there, which was not.
        def missed(runs)
          runs.filter_map do |name, (missed, calls)|
            share = missed.fdiv(calls) if calls.positive?
            "#{name}: #{Figures.percent(share)} of the hits were misses." if share&.positive? &&
                                                                             type(name).keeps_values?
          end
        end

        # Circumstances and raw samples.
        def details
          { environment: results.environment, plan: plan.to_h.except(:urls, :directory), twins: results.twins,
            rounds: results.rounds, rows: results.rows.map(&:to_h), events: results.events }
        end
      end
    end
  end
end
