# frozen_string_literal: true

# Formats points, payloads and estimates of `larder-lab network`.

require_relative "../document"
require_relative "../reports/figures"

module Larder
  module Lab
    module Network
      # For classes with `results`.
      module Wording
        TITLES = { "hello" => "a short String", "page" => "a page of 10 KB", "megabyte" => "a String of 1 MB",
                   "given" => "the given payload" }.freeze

        private

        def duration(seconds)
          Reports::Figures.duration(seconds)
        end

        def bits(bandwidth)
          bandwidth == Float::INFINITY || bandwidth.nil? ? "no limit" : Reports::Figures.bits(bandwidth)
        end

        def percent(share)
          Reports::Figures.percent(share)
        end

        def place(point)
          return "without a network" unless point.network?

          "#{duration(point.rtt)}, #{bits(point.bandwidth)}"
        end

        def payload_title(payload)
          TITLES.fetch(payload, payload)
        end

        def upper(text)
          text[0].upcase + text[1..]
        end

        # @return [Hash, nil] a cell of a table: the median and its interval
        def cell(row, payload, operation, point)
          interval(results.estimate(row, payload, operation, point))
        end

        def interval(estimate)
          estimate&.to_h&.transform_keys(&:to_s)
        end

        def section(title, *blocks)
          blocks = blocks.compact
          Document::Section.new(title: title, blocks: blocks) if blocks.any?
        end
      end
    end
  end
end
