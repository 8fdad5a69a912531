# frozen_string_literal: true

# Compares calls behind a network with a simple model of it.

require_relative "../document"
require_relative "../units"
require_relative "findings"

module Larder
  module Lab
    module SuiteReport
      # The model: the same call behind a shorter network without a limit, plus a round trip, plus the bits by the
      # bandwidth. Blocks say which network they have by the figures "rtt" and "bandwidth".
      class WireModel
        # Predictions that are shown.
        WORST = 12
        NOTES = ["Predicted: the same call behind the nearest network, plus the longer round trip, plus the bits " \
                 "divided by the bandwidth."].freeze
        private_constant :WORST, :NOTES

        # @param plan [Bench::Plan]
        # @param findings [Findings]
        def initialize(plan, findings)
          @blocks = plan.blocks.select(&:axes)
          @findings = findings
        end

        # @return [Document::Table, nil] the worst predictions; nil without networks
        def table
          found = @findings.rows.flat_map { |row| predictions(row) }
          return if found.empty?

          rows = found.sort_by { |*, error| -error.abs }.first(WORST)
          caption = "The #{rows.size} of #{found.size} predictions that are off by most"
          Document::Table.build(caption: caption, rows: rows,
                                columns: [{ title: "" }, { title: "measured", format: "seconds" },
                                          { title: "predicted", format: "seconds" },
                                          { title: "off by", format: "percent" }], notes: NOTES)
        end

        # @param row [String]
        # @return [Array<Array>] label, seconds measured, seconds predicted, the error as a share
        def predictions(row)
          known = @blocks.select { |block| figure(row, block, "rtt") && @findings.seconds(row, block) }
          known.group_by { |block| [block.heading, block.axes["compressor"]] }.each_value.flat_map do |blocks|
            free = blocks.reject { |block| figure(row, block, "bandwidth") }
            nearest = free.min_by { |block| figure(row, block, "rtt") } or next []

            (blocks - [nearest]).map { |block| prediction(row, block, nearest) }
          end
        end

        private

        def prediction(row, block, nearest)
          measured = @findings.seconds(row, block)
          predicted = @findings.seconds(row, nearest) + figure(row, block, "rtt") - figure(row, nearest, "rtt") +
                      Units.seconds_to_send(figure(row, block, "bytes"), figure(row, block, "bandwidth"))
          ["#{row}: #{block.title}", measured, predicted, (measured - predicted) / predicted]
        end

        def figure(row, block, name)
          @findings.figure(row, block, name)
        end
      end
    end
  end
end
