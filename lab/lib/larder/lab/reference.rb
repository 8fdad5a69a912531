# frozen_string_literal: true

# The reference loop: plain Ruby without a store or codec, whose time tells how fast the machine was during a run.
# `compare` divides by it. In suites it takes turns as a row does, see Bench::ReferenceLoop.

require_relative "clock"
require_relative "document"
require_relative "bench/stats"

module Larder
  module Lab
    # Taken before each worker process of a run, while nothing else is measured.
    module Reference
      # Of its measure, one in each chapter; what other measures name as their base.
      KEY = "reference"
      # Keys of the loop, and how often it goes round them.
      KEYS = 1_000
      TURNS = 10
      # Laps of which the median counts: the first may meet a sleeping processor.
      LAPS = 3

      extend Clock

      class << self
        # Collects what is taken while the block runs.
        # @yieldreturn [Document::Chapter]
        # @return [Document::Chapter] with one measure more, if anything was taken
        def during
          @taken = []
          chapter = yield
          chapter.measures << measure(@taken) if @taken.any?
          chapter
        ensure
          @taken = nil
        end

        # Where nobody collects it does nothing.
        # @return [void]
        def take
          @taken&.push(Bench::Stats.median(Array.new(LAPS) { lap }))
        end

        # A lap: strings are made and looked up, as every cache call does.
        # @return [Boolean] true
        def go_round
          kept = {}
          TURNS.times { KEYS.times { |i| kept["reference/#{i}"] ||= "value #{i}" } }
          kept.size == KEYS
        end

        private

        def lap
          started = now
          go_round
          now - started
        end

        def measure(seconds)
          Document::Measure.new(key: KEY, label: "the reference loop", unit: "seconds", better: "lower",
                                samples: seconds)
        end
      end
    end
  end
end
