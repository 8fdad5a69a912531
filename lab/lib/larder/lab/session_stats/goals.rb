# frozen_string_literal: true

# The targets for answers about Larder's sessions. Each is judged from the present run, with the largest number of
# sessions that was loaded.

require_relative "../document"
require_relative "../reports/figures"
require_relative "../sessions/goals"

module Larder
  module Lab
    module SessionStats
      # A table of promises, measured.
      class Goals
        # Seconds of a question.
        SECONDS = { "logged-in" => 5e-6, "logged-out" => 5e-6, "active-5m" => 50e-6, "use" => 1.5e-6 }.freeze
        # Bytes of a session of somebody who is signed in, beyond its data.
        BYTES = 200
        WORDS = Sessions::Goals::WORDS

        # @param times [Times]
        # @param room [Room]
        # @param results [Loads::Results]
        def initialize(times, room, results)
          @times = times
          @room = room
          @results = results
          @size = results.plan.settings[:sizes].max
        end

        # @return [Document::Section, nil] nil without Larder
        def section
          return unless @results.measured?("larder")

          columns = [{ title: "larder, #{Reports::Figures.thousands(@size)} sessions" }, { title: "wanted" },
                     { title: "measured", format: "ratio" }, { title: "" }]
          rows = [*SECONDS.map { |question, most| time(question, most) }, bytes]
          Document::Section.new(title: "What Larder sets out to reach", headline: true,
                                blocks: [Document::Table.build(columns: columns, rows: rows)])
        end

        # @param low [Float] of the interval
        # @param high [Float]
        # @param most [Float]
        # @return [Symbol] :reached, :missed, or :open if the interval holds the most
        def self.judge(low, high, most)
          return :reached if high <= most

          low > most ? :missed : :open
        end

        private

        # In microseconds.
        def time(question, most)
          cell = @times.of(question, @size).median("larder").transform_values { |seconds| seconds * 1e6 }
          several = cell.key?("low")
          judgement = several ? self.class.judge(*cell.values_at("low", "high"), most * 1e6) : :open
          ["#{Times::QUESTIONS.fetch(question)}, µs", "≤ #{format("%g", most * 1e6)}", cell, WORDS.fetch(judgement)]
        end

        # Counted, not timed: it is the same each time.
        def bytes
          bytes = @room.signed_in("larder", @size)
          ["one signed in, bytes beyond its data", "≤ #{BYTES}", bytes,
           bytes ? WORDS.fetch(self.class.judge(bytes, bytes, BYTES)) : "not measured"]
        end
      end
    end
  end
end
