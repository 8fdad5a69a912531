# frozen_string_literal: true

# Keeps the results of a run: rows, their state, and every raw sample. Computes nothing but seconds per call.

require_relative "statistics"

module Larder
  module Lab
    # The samples and the circumstances of one run.
    class Results
      # One line of the tables. state: :measured, :unavailable or :invalid; reason says why it is not :measured;
      # count: calls per lap, which are fewer for slow stores.
      Row = Struct.new(:name, :contender, :state, :reason, :count, :versions, :options, :server, keyword_init: true) do
        # @return [Boolean]
        def measured?
          state == :measured
        end
      end

      # One block. `position` is the row's place in the random order of the round; `own` the seconds of each call that
      # are the lab's; `allocated` objects and `collections` of garbage are those of the whole block; `floor` the
      # seconds of as many calls with any store.
      Sample = Struct.new(:row, :round, :position, :workload, :pass, :seconds, :calls, :block_runs, :clearing, :laps,
                          :allocated, :collections, :collecting, :own, :floor, keyword_init: true) do
        # @return [Float] seconds, without the lab's own
        def per_call
          (seconds / calls) - own.to_f
        end

        # @return [Float, nil] seconds of a call beyond what it costs with any store
        def above_floor
          (seconds - floor) / calls if floor
        end
      end

      # Bytes at the end of a round, with the keys of the last workload in the store; nil where not known.
      Footprint = Struct.new(:row, :round, :disk_bytes, :memory_bytes, :server_bytes, keyword_init: true)

      # @return [Settings]
      attr_reader :settings
      # @return [Hash{Symbol=>Object}] see {Environment}
      attr_reader :environment
      # @return [Array<Row>]
      attr_reader :rows
      # @return [Array<Sample>]
      attr_reader :samples
      # @return [Array<Footprint>]
      attr_reader :footprints
      # @return [Array<Array(String, String, String)>] rows that lack what a workload needs: row, workload, reason
      attr_reader :skipped
      # @return [Integer] calls per lap that the blocks had, but for rows that have fewer
      attr_accessor :count
      # @return [Integer] rounds that were finished
      attr_accessor :rounds
      # @return [Float] seconds that the run took
      attr_accessor :elapsed
      # @return [Array<String>] names of the two rows that measured the same contender, or empty
      attr_accessor :twins

      # @param settings [Settings]
      # @param environment [Hash]
      def initialize(settings, environment)
        @settings = settings
        @environment = environment
        @rows = []
        @samples = []
        @footprints = []
        @skipped = []
        @twins = []
        @count = settings.count
        @rounds = 0
      end

      # @param name [String]
      # @return [Row, nil]
      def row(name)
        rows.find { |row| row.name == name }
      end

      # @return [Array<Row>]
      def measured
        rows.select(&:measured?)
      end

      # @return [Array<Row>] measured ones but for the floor, see {Contenders::Floor}
      def stores
        measured.reject { |row| row.contender == Contenders::Floor.key }
      end

      # @return [Float, nil] seconds of a call that are the lab's own: the median of the blocks that measured them
      def overhead
        own = samples.filter_map(&:own)
        Statistics.median(own) unless own.empty?
      end

      # @param row [String] name
      # @param workload [String]
      # @param pass [String]
      # @return [Array<Sample>] in order of rounds
      def block(row, workload, pass)
        index[[row, workload, pass]] || []
      end

      # @return [Array<Float>] seconds per call, one for each round; empty if the row was not measured
      def per_call(row, workload, pass)
        return [] unless row(row)&.measured?

        block(row, workload, pass).map(&:per_call)
      end

      # Forgets the samples of a row and says why.
      # @param name [String]
      # @param state [Symbol] :invalid or :unavailable
      # @param reason [String]
      # @return [void]
      def reject(name, state, reason)
        row(name).state = state
        row(name).reason = reason
        samples.reject! { |sample| sample.row == name }
        footprints.reject! { |footprint| footprint.row == name }
        @index = nil
      end

      # @param sample [Sample]
      # @return [void]
      def add(sample)
        samples << sample
        @index = nil
      end

      private

      def index
        @index ||= samples.sort_by(&:round).group_by { |sample| [sample.row, sample.workload, sample.pass] }
      end
    end
  end
end
