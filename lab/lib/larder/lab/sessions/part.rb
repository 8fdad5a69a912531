# frozen_string_literal: true

# The base of the parts of a comparison of session stores.

require_relative "../document"
require_relative "../loads/ratios"
require_relative "../reports/cells"
require_relative "../reports/figures"
require_relative "../statistics"

module Larder
  module Lab
    module Sessions
      # A subclass implements {#sections}, {#conclusions}, {#measures} and {#blocks}, each of which may be empty.
      class Part
        Figures = Reports::Figures
        D = Document

        # @param results [Loads::Results]
        def initialize(results)
          @results = results
          @plan = results.plan
        end

        # @return [Array<Document::Section>]
        def sections
          raise NotImplementedError
        end

        # @return [Array<String>] sentences
        def conclusions
          []
        end

        # @return [Array<Document::Measure>]
        def measures
          raise NotImplementedError
        end

        # @return [Hash{Array<String>=>Array<Float>}] a row and its step, and what each round measured there
        def blocks
          raise NotImplementedError
        end

        private

        attr_reader :results, :plan

        def names
          results.measured.map(&:name)
        end

        # Without the second measurement of one.
        def once
          names - results.twins.first(1)
        end

        def ratios(samples)
          Loads::Ratios.new(samples, twins: results.twins, seed: plan.seed)
        end

        def section(title, *blocks, headline: false)
          blocks = blocks.flatten.compact
          D::Section.new(title: title, blocks: blocks, headline: headline) if blocks.any?
        end

        # Rows of a chart: every round, and the median with its interval.
        def dots(ratios)
          ratios.ranking.map do |name|
            { label: name, highlight: name == "larder", dots: ratios.samples(name),
              **ratios.median(name).transform_keys(&:to_sym) }
          end
        end

        # "31 µs (hash) to 560 µs (file)"
        def range(ratios)
          ends = (ratios.ranking & once).values_at(0, -1).uniq
          ends.map { |name| "#{Figures.duration(ratios.median(name)["value"])} (#{name})" }.join(" to ")
        end

        def times(ratios, name)
          name == ratios.base ? "1" : ratios.cell(name)
        end

        # "6.1 (5.8–6.3) times", or that no difference is shown.
        def said(cell)
          cell["same"] ? Loads::Ratios.no_difference(cell) : "#{Reports::Cells.text(cell, "ratio")} times"
        end

        def noise_of(all)
          all.filter_map(&:noise).max
        end
      end
    end
  end
end
