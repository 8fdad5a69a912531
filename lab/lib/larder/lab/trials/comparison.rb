# frozen_string_literal: true

# Owns the judgement of a trial: medians, ratios of paired rounds with their intervals, and at which speed of a wire
# compressing begins to pay.

require_relative "../statistics"

module Larder
  module Lab
    module Trials
      # Compares contestants on one group.
      class Comparison
        # Rows to compare with, in order of preference.
        BASES = %w[larder rails zstd-3 marshal].freeze

        # @param results [Results]
        # @param group [String]
        def initialize(results, group)
          @results = results
          @group = group
        end

        # @return [String, nil] the contestant that the others are compared with
        def base
          measured = @results.measured(@group)
          [*BASES, *measured].find { |name| measured.include?(name) }
        end

        # @return [Float, nil] seconds of one call, the median of the rounds
        def median(name, operation)
          seconds = @results.seconds(name, @group, operation)
          Statistics.median(seconds) unless seconds.empty?
        end

        # @return [Statistics::Estimate, nil] how many times as long as the base
        def ratio(name, operation)
          mine, theirs = [name, base].map { |each| @results.seconds(each, @group, operation) }
          return if mine.empty? || mine.size != theirs.size

          Statistics.bootstrap(Statistics.paired_ratios(mine, theirs), seed: @results.plan.seed)
        end

        # Up to this many bits a second it is faster to compress, send and decompress than to send what there is.
        #
        # @return [Float, nil] nil where it never pays
        def pays_below(name)
          size = @results.size(name, @group)
          work = %w[compress decompress].sum { |operation| median(name, operation) || 0.0 }
          saved = (size.raw - size.bytes) * 8
          saved / work if saved.positive? && work.positive?
        end

        # @return [Array<String>] contestants, the fastest first
        def ranking(operation)
          @results.measured(@group).sort_by { |name| median(name, operation) || Float::INFINITY }
        end
      end
    end
  end
end
