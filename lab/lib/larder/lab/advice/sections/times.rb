# frozen_string_literal: true

# Builds the sections for the ranking, and for the parts of the time.

require_relative "../../document"
require_relative "../../reports/figures"
require_relative "../model"

module Larder
  module Lab
    module Advice
      module Sections
        # The order, with intervals, and each choice's time by part.
        class Times
          Figures = Reports::Figures
          # Choices that are shown from the front; the best of each store is shown in any case.
          SHOWN = 8
          # Choices whose time is taken apart.
          TAKEN_APART = 6

          # @param ranking [Ranking]
          def initialize(ranking)
            @ranking = ranking
            @model = ranking.model
            @best = ranking.best
          end

          # @return [Array<Document::Section>]
          def to_a
            times = %w[read write].map { |call| parts(call) }
            [Document::Section.new(title: "Ranking", blocks: [table, intervals]),
             Document::Section.new(title: "Where the time goes", blocks: times)]
          end

          private

          def shown
            @shown ||= @ranking.shown(SHOWN)
          end

          def table
            Document::Table.build(
              caption: "Time of a call: the mean of a write and #{format("%g", reads)} reads",
              columns: [{ title: "" }, { title: "µs a call", format: "micros", align: "right" },
                        { title: "times the first", format: "ratio" },
                        { title: "bytes", format: "integer", optional: 1 }],
              rows: shown.map { |choice| row(choice) }, notes: notes
            )
          end

          def row(choice)
            mixed = @model.mixed(choice)
            [label(choice), mixed.value, choice == @best ? "1" : relative(choice, mixed), @model.bytes(choice)]
          end

          def relative(choice, mixed)
            (mixed / @model.mixed(@best)).cell.merge("same" => @ranking.same?(choice, @best))
          end

          # A star stands for words under the table.
          def label(choice)
            [choice.to_s, *(" *" if choice.rails_default?), *(" †" unless clear?(choice))].join
          end

          def clear?(choice)
            @ranking.constraints.clear?(choice)
          end

          def notes
            [("≈: no difference to the first is shown." if @ranking.ties.any?),
             ("*: what Rails does that was told nothing." if shown.any?(&:rails_default?)),
             ("†: something speaks against it, see below." unless shown.all? { |each| clear?(each) }),
             more].compact
          end

          def more
            left = @ranking.choices.size - shown.size
            "#{left} more were compared; they are in the file that --json writes." if left.positive?
          end

          def reads
            @model.circumstances.reads
          end

          def intervals
            first = @model.mixed(@best)
            ties = @ranking.ties.size
            tied = ties.zero? ? "" : "; no difference is shown between it and #{ties} other#{"s" if ties > 1}"
            Document::Intervals.build(
              title: "Time of a call", x: { title: "µs a call", format: "micros" },
              sentence: "#{@best} takes #{duration(first)} a call (interval #{interval(first)})#{tied}.",
              rows: shown.map { |choice| dot(choice) }
            )
          end

          def dot(choice)
            estimate = @model.mixed(choice).estimate
            { label: choice.to_s, value: estimate.value, low: estimate.low, high: estimate.high,
              highlight: choice.store == "larder" }
          end

          def duration(figure)
            Figures.duration(figure.value)
          end

          def interval(figure)
            "#{Figures.duration(figure.estimate.low)} to #{Figures.duration(figure.estimate.high)}"
          end

          def taken_apart
            @taken_apart ||= @ranking.shown(2).first(TAKEN_APART)
          end

          def parts(call)
            Document::Table.build(
              caption: "µs of a #{call}", notes: [most(call)],
              columns: [{ title: "" }, *["in all", *Model::SHORT].map { |part| { title: part, format: "micros" } }],
              rows: taken_apart.map do |choice|
                values = @model.call(call, choice).map(&:value)
                [choice.to_s, values.sum, *values]
              end
            )
          end

          def most(call)
            values = @model.call(call, @best).map(&:value)
            part, seconds = Model::PARTS.zip(values).max_by(&:last)
            "A #{call} with #{@best} takes #{Figures.duration(values.sum)}, of which #{part_words(part)} " \
              "#{Figures.percent(seconds / values.sum)}."
          end

          def part_words(part)
            { "on the wire" => "the way over the wire is" }.fetch(part) { "the #{part} is" }
          end
        end
      end
    end
  end
end
