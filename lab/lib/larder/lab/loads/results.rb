# frozen_string_literal: true

# The plan and the results of a command that loads stores.

module Larder
  module Lab
    module Loads
      # What is run. load: name in {Loads}; contenders: names; settings: for the load, with "seconds"; seconds: that one
      # process is expected to take; twin: whether there is an A/A control; limit_seconds: no round begins that
      # would end later (nil: all rounds are run); least_rounds: run whatever they take; size: bytes of room of every
      # store.
      Plan = Struct.new(:load, :contenders, :rounds, :seed, :settings, :seconds, :twin, :limit_seconds, :least_rounds,
                        :size, :urls, :requires, :directory, :quick, keyword_init: true) do
        # The contender that is measured twice, so that noise is seen.
        # @return [String, nil]
        def twin_of
          (%w[larder memory] & contenders).first || contenders.first if twin
        end
      end

      # The rows of a run, and the events of their processes.
      class Results
        # One line of the tables. state: :measured, :unavailable or :invalid; reason says why it is not :measured.
        Row = Struct.new(:name, :contender, :state, :reason, :versions, :options, :server, keyword_init: true) do
          # @return [Boolean]
          def measured?
            state == :measured
          end
        end

        # @return [Plan]
        attr_reader :plan
        # @return [Hash{Symbol=>Object}] see {Environment}
        attr_reader :environment
        # @return [Array<Row>]
        attr_reader :rows
        # @return [Array<Hash{String=>Object}>] events with "row", "round" and "position" in the round's order
        attr_reader :events
        # @return [Integer] rounds that were finished
        attr_accessor :rounds

        # @param plan [Plan]
        # @param environment [Hash]
        def initialize(plan, environment)
          @plan = plan
          @environment = environment
          @events = []
          @rounds = 0
          @rows = plan.contenders.flat_map do |name|
            [row_of(name, name), (row_of("#{name} (A/A)", name) if name == plan.twin_of)].compact
          end
        end

        # @return [Array<Row>]
        def measured
          rows.select(&:measured?)
        end

        # @param name [String]
        # @return [Boolean]
        def measured?(name)
          measured.any? { |row| row.name == name }
        end

        # @return [Array<String>] the row that repeats another, and that one; empty if either was not measured
        def twins
          names = ["#{plan.twin_of} (A/A)", plan.twin_of]
          names.all? { |name| measured?(name) } ? names : []
        end

        # @param row [String] name
        # @param type [String] of the event
        # @param fields [Hash{String=>Object}] that it must have
        # @return [Array<Hash{String=>Object}>] in order of rounds
        def of(row, type = "block", **fields)
          fields = fields.transform_keys(&:to_s)
          (index[[row, type]] || []).select { |event| event >= fields }
        end

        # @param event [Hash{String=>Object}]
        # @return [void]
        def add(row, round, position, event)
          @events << { "row" => row.name, "round" => round, "position" => position, **event }
          @index = nil
        end

        # Forgets what a row said, and keeps why.
        # @param row [Row]
        # @param state [Symbol] :invalid or :unavailable
        # @param reason [String]
        # @return [void]
        def reject(row, state, reason)
          row.state = state
          row.reason = reason
          events.reject! { |event| event["row"] == row.name }
          @index = nil
        end

        private

        def row_of(name, contender)
          Row.new(name: name, contender: contender, state: :measured)
        end

        def index
          @index ||= events.sort_by.with_index { |event, at| [event["round"], at] }
                           .group_by { |event| event.values_at("row", "event") }
        end
      end
    end
  end
end
