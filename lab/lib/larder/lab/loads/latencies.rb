# frozen_string_literal: true

# Prepares latencies for reports: per row, operation and loop, less the time that the lab itself takes.

require_relative "../histogram"
require_relative "../statistics"

module Larder
  module Lab
    module Loads
      # Reads the events of {Latency}.
      class Latencies
        # One loop around one operation. share: of the closed loop's rate, nil for the closed loop itself.
        View = Struct.new(:operation, :share, keyword_init: true) do
          # @return [Hash{Symbol=>Object}] what its events have
          def to_match
            { operation: operation, loop: share ? "open" : "closed", **(share ? { share: share } : {}) }
          end

          # @return [String] for keys of measures
          def key
            "#{operation}/#{share ? "open-#{(share * 100).round}" : "closed"}"
          end

          # @return [String] in a list of several
          def short
            "#{operation == "hit" ? "hits" : "misses"} at #{(share * 100).round} %"
          end

          # @return [String]
          def title
            calls = operation == "hit" ? "hits" : "misses with a write"
            share ? "#{calls}, open loop at #{(share * 100).round} % of that rate" : "#{calls}, closed loop"
          end
        end

        # @param results [Results]
        def initialize(results)
          @results = results
          @merged = {}
        end

        # @return [Array<View>]
        def views
          shares = @results.plan.settings[:shares]
          %w[hit miss].flat_map { |name| [nil, *shares].map { |share| View.new(operation: name, share: share) } }
        end

        # @param row [String]
        # @param view [View]
        # @return [Array<Hash{String=>Object}>] a block for each round
        def blocks(row, view)
          @results.of(row, **view.to_match)
        end

        # @param row [String]
        # @param view [View]
        # @return [Histogram] of all rounds
        def merged(row, view)
          @merged[[row, view]] ||= Histogram.merge(blocks(row, view).map { |block| histogram(block) })
        end

        # @param row [String]
        # @param view [View]
        # @param share [Float] 0.999 for p99.9
        # @return [Float, nil] seconds, over all rounds; nil if there are too few samples
        def percentile(row, view, share)
          net(row, merged(row, view).percentile(share))
        end

        # @param row [String]
        # @param view [View]
        # @return [Float] seconds
        def longest(row, view)
          net(row, merged(row, view).max * Histogram::SECONDS)
        end

        # @param row [String]
        # @param view [View]
        # @param share [Float]
        # @return [Array<Float, nil>] seconds, for each round
        def samples(row, view, share)
          blocks(row, view).map { |block| net(row, histogram(block).percentile(share)) }
        end

        # @param row [String]
        # @return [Hash{String=>Float}] seconds that the lab takes: in the time of a call, and for a round of the loop
        def own(row)
          events = @results.of(row, "own")
          %w[reading round].to_h { |name| [name, Statistics.median(events.map { |event| event[name] })] }
        end

        private

        def net(row, seconds)
          seconds && [seconds - own(row)["reading"], 0.0].max
        end

        def histogram(block)
          Histogram.from_h(block["histogram"])
        end
      end
    end
  end
end
