# frozen_string_literal: true

# Builds the tables of times of questions: samples and ratios.

require_relative "../document"
require_relative "../loads/ratios"
require_relative "../reports/figures"

module Larder
  module Lab
    module SessionStats
      # Times of all questions at all sizes.
      class Times
        # By name: what is asked.
        QUESTIONS = { "logged-in" => "is a user logged in, who is", "logged-out" => "is a user logged in, who is not",
                      "last-seen" => "when was a user last seen", "for" => "a user's sessions",
                      "active-5m" => "sessions active in 5 minutes", "active-1d" => "sessions active in a day",
                      "all" => "all sessions", "use" => "noting a use" }.freeze
        # What a request pays.
        USE = "use"
        NOTES = ["Microseconds of a question; the loop that asks is in them. All sessions: of Larder with all that " \
                 "Larder::Sessions.stats tells, of SQL a COUNT(*).",
                 "Noting a use, a minute after the one before: of Larder what comes to the session's own write, once " \
                 "a minute at most for a session; of SQL the UPDATE of updated_at, which is the write."].freeze

        # @param results [Loads::Results]
        def initialize(results)
          @results = results
          @names = results.measured.map(&:name)
        end

        # @param question [String]
        # @param size [Integer] sessions
        # @return [Loads::Ratios] of seconds of a call
        def of(question, size)
          (@of ||= {})[[question, size]] ||=
            Loads::Ratios.new(@names.to_h { |name| [name, samples(name, question, size)] },
                              twins: @results.twins, seed: @results.plan.seed)
        end

        # @param size [Integer] sessions
        # @return [Document::Table]
        def table(size)
          base = of(USE, size).base
          others = @names - @results.twins.first(1) - [base]
          columns = others.each_with_index.flat_map do |name, at|
            [{ title: "µs", format: "micros", group: name },
             { title: "times #{base}", format: "ratio", group: name, optional: at + 1 }]
          end
          rows = QUESTIONS.map do |question, words|
            ratios = of(question, size)
            [words, ratios.median(base), *others.flat_map { |name| [ratios.median(name), ratios.cell(name)] }]
          end
          Document::Table.build(columns: [{ title: "" }, { title: "#{base}, µs", format: "micros" }, *columns],
                                rows: rows, notes: NOTES)
        end

        # @return [Array<Document::Measure>]
        def measures
          each_row.map do |name, question, size|
            of(question, size).measure(name, "#{QUESTIONS.fetch(question)}, of #{size}") do |row|
              "session-stats/#{size}/#{question}/#{row}"
            end
          end
        end

        # @return [Hash{Array<String>=>Array<Float>}] a row and its step, and what each round measured there
        def blocks
          each_row.to_h do |name, question, size|
            [[name, "#{question} of #{Reports::Figures.thousands(size)}"], of(question, size).samples(name)]
          end
        end

        private

        def each_row
          @names.product(QUESTIONS.keys, @results.plan.settings[:sizes])
                .select { |name, question, size| of(question, size).samples(name) }
        end

        def samples(name, question, size)
          @results.of(name, question: question, size: size).map { |event| event["seconds"] / event["calls"] }
        end
      end
    end
  end
end
