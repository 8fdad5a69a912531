# frozen_string_literal: true

module Larder
  module Lab
    module Bench
      # All turns of a run, in the order in which they were taken. Computes nothing.
      class Samples
        include Enumerable

        # One turn. `row` and `block` are keys, `copy` is 0 or, for a row's twin, 1. `session` counts the sets of fresh
        # processes, `pass` the turns in one session: all rows take one in each pass. `seconds` are for one
        # call; `faults` are page faults of the whole turn.
        Turn = Struct.new(:row, :block, :copy, :session, :pass, :seconds, :calls, :faults, keyword_init: true)

        # Reads turns as JSON has them. Raises ArgumentError for one with other fields, or without a time.
        def self.from(turns)
          turns.each_with_object(new) do |fields, samples|
            turn = Turn.new(**fields.transform_keys(&:to_sym))
            raise ArgumentError, "a turn without a time" unless turn.seconds.is_a?(Numeric) && turn.seconds.positive?

            samples.add(turn)
          end
        end

        def initialize
          @turns = []
          @by_series = Hash.new { |all, key| all[key] = [] }
        end

        def add(turn)
          @turns << turn
          @by_series[[turn.row, turn.block]] << turn
          self
        end

        def each(&block) = @turns.each(&block)

        def of(row, block) = Series.new(@by_series.fetch([row, block], []))

        def empty? = @turns.empty?
      end

      # The turns of one row in one block.
      class Series
        attr_reader :turns

        def initialize(turns)
          @turns = turns
          @sessions = turns.sort_by { |turn| [turn.session, turn.copy] }.group_by(&:session)
                           .transform_values { |all| all.group_by(&:pass) }
        end

        def sessions = @sessions.keys

        # pass => logarithms of the seconds of a call, of a row and its twin.
        def logarithms(session)
          @sessions.fetch(session).transform_values { |turns| turns.map { |turn| Math.log(turn.seconds) } }
        end

        # The median of the seconds of a call, one for each session.
        def session_seconds
          @sessions.each_value.map { |passes| Stats.median(passes.values.flatten.map(&:seconds)) }
        end

        def empty? = @sessions.empty?
      end
    end
  end
end
