# frozen_string_literal: true

# The settings of a run, and their defaults. A command makes them from its options; everything else reads them.

module Larder
  module Lab
    # How a run is done.
    #
    # count: calls per lap; threads: of the workloads that have several; rounds: fresh processes per row; seed: of the
    # order; block_seconds: what a block is calibrated to last (nil: exactly one lap); lap_seconds: what a lap should
    # not exceed, for which slow stores make fewer calls (nil: all make `count`); limit_seconds: what the run may take
    # altogether (nil: as long as it takes); contenders, workloads: names; base: the row others are compared with (nil:
    # chosen); urls: servers of the user's, by server name; requires: files to load; directory: where the stores keep
    # their files (nil: the system's place for temporary files); mode: :default, :quick or :published.
    Settings = Struct.new(:mode, :count, :threads, :rounds, :seed, :block_seconds, :lap_seconds, :limit_seconds,
                          :contenders, :workloads, :base, :urls, :requires, :directory, keyword_init: true) do
      # @return [Array<Class>] the chosen workloads
      def workload_types
        workloads.map { |name| Workloads.fetch(name) }
      end

      # @return [Boolean]
      def quick?
        mode == :quick
      end

      # @return [Boolean]
      def published?
        mode == :published
      end
    end

    # Sizes of the three modes.
    module Modes
      # A block lasts a second or more; n is a tenth of the published one, and less for stores whose laps would last
      # much longer than that second.
      DEFAULT = { mode: :default, count: 10_000, threads: 5, rounds: 5, block_seconds: 1.0, lap_seconds: 1.5 }.freeze
      # An impression: small enough for a minute in total.
      QUICK = { mode: :quick, count: 1_000, threads: 5, rounds: 3, block_seconds: 0.02, lap_seconds: 0.3,
                limit_seconds: 50.0 }.freeze
      # The published shape: n = 100,000, one lap.
      PUBLISHED = { mode: :published, count: 100_000, threads: 5, rounds: 5, block_seconds: nil }.freeze
    end
  end
end
