# frozen_string_literal: true

# Compares contenders in a trial: medians, ratios of paired rounds with their intervals, whether they show a
# difference, and the bandwidth below which compression is faster.

require_relative "../statistics"

module Larder
  module Lab
    module Trials
      # Compares contenders on one group.
      class Comparison
        # Rows to compare with, in order of preference.
        BASES = %w[larder rails zstd-3 marshal].freeze

        # @param results [Results]
        # @param group [String]
        def initialize(results, group)
          @results = results
          @group = group
        end

        # @return [String, nil] the contender that the others are compared with
        def base
          measured = @results.measured(@group)
          [*BASES, *measured].find { |name| measured.include?(name) }
        end

        # @return [Float, nil] seconds of one call, the median of the rounds
        def median(name, operation)
          seconds = @results.seconds(name, @group, operation)
          Statistics.median(seconds) unless seconds.empty?
        end

        # @return [Statistics::Estimate, nil] seconds of one call
        def estimate(name, operation)
          seconds = @results.seconds(name, @group, operation)
          Statistics.estimate(seconds) unless seconds.empty?
        end

        # @param other [String] the contender to compare with
        # @return [Statistics::Estimate, nil] how many times as long as the other
        def ratio(name, operation, other = base)
          mine, theirs = [name, other].map { |each| @results.seconds(each, @group, operation) }
          return if mine.empty? || mine.size != theirs.size

          Statistics.estimate(Statistics.paired_ratios(mine, theirs))
        end

        # How far two measurements of the same codec lay apart, as a fraction: smaller differences mean nothing.
        # @param operation [String]
        # @return [Float] 0.0 if nothing was measured twice, or too few rounds
        def noise(operation)
          @noise ||= {}
          @noise[operation] ||= (twins && ratio(twins.first, operation, twins.last)&.noise) || 0.0
        end

        # @param estimate [Statistics::Estimate] from {#ratio}
        # @param operation [String]
        # @return [Boolean] does it show no difference, beyond the noise?
        def same?(estimate, operation)
          floor = 1.0 + noise(operation)
          estimate.low <= floor && estimate.high >= 1.0 / floor
        end

        # @return [Object] the ratio as the cell of a table
        def cell(name, operation, other = base)
          return "1" if name == other

          ratio = ratio(name, operation, other)
          return unless ratio

          ratio.to_h.transform_keys(&:to_s).merge("same" => same?(ratio, operation))
        end

        # Up to this many bits a second it is faster to compress, send and decompress than to send what there is.
        #
        # @return [Float, nil] nil where it never pays
        def pays_below(name)
          size = @results.size(name, @group)
          work = work(name)
          saved = (size.raw - size.bytes) * 8 if size.raw
          saved / work if saved&.positive? && work.positive?
        end

        # @return [Float] seconds of compressing and decompressing
        def work(name)
          %w[compress decompress].sum { |operation| median(name, operation) || 0.0 }
        end

        # @return [Array<String>] contenders, the fastest first
        def ranking(operation)
          @results.measured(@group).sort_by { |name| median(name, operation) || Float::INFINITY }
        end

        private

        def twins
          @results.plan.twins(@group)
        end
      end
    end
  end
end
