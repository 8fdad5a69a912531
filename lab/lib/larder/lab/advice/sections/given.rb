# frozen_string_literal: true

# Builds the sections for the circumstances and the value.

require_relative "../../document"
require_relative "../../reports/figures"

module Larder
  module Lab
    module Advice
      # Parts of the report.
      module Sections
        # What was said, what was assumed, and what the value is.
        class Given
          Figures = Reports::Figures
          # Classes that are named; of more the rest is counted.
          MOST_CLASSES = 6

          # @param question [Question]
          # @param title [String] of the value
          # @param parts [Parts]
          def initialize(question, title, parts)
            @question = question
            @title = title
            @nature = parts.nature
            @round_trip = parts.round_trip
          end

          # @return [Array<Document::Section>]
          def to_a
            [Document::Section.new(title: "Your circumstances", blocks: [circumstances]),
             Document::Section.new(title: "The value", blocks: [Document::List.new(items: value)])]
          end

          private

          def circumstances
            rows = Fields::ALL.select { |field| field.apt_for?(@question) }.map do |field|
              [field.option, @question.given?(field.key) ? said(field.key) : "#{said(field.key)} (assumed)"]
            end
            Document::Table.build(columns: [{ title: "" }, { title: "" }], rows: rows)
          end

          def said(key)
            return @title if key == :payload
            return @question.said(key) unless key == :rtt && @question.rtt.nil? && @round_trip.positive?

            "#{@question.said(key)}: #{Figures.duration(@round_trip)}, measured"
          end

          def value
            [made_of, text, *compressible].compact
          end

          def made_of
            named = @nature["classes"].first(MOST_CLASSES).map { |name, count| "#{Figures.thousands(count)} #{name}" }
            rest = @nature["classes"].size - named.size
            "#{Figures.thousands(@nature["counted"])} objects, #{@nature["depth"]} levels deep: #{named.join(", ")}" \
              "#{", and #{rest} more classes" if rest.positive?}"
          end

          def text
            return "Marshal refuses it: #{@nature["refusal"]}" unless @nature["marshal"]

            "#{Figures.bytes(@nature["marshal"])} as Marshal writes it, " \
              "#{Figures.percent([@nature["text"].fdiv(@nature["marshal"]), 1.0].min)} of it text"
          end

          def compressible
            return [] unless @nature["marshal"]

            left = @nature["deflated"].fdiv(@nature["marshal"])
            how = case left
                  when 0...0.35 then "compresses well"
                  when 0.35...0.8 then "compresses somewhat"
                  else "hardly compresses"
                  end
            ["It #{how}: zlib leaves #{Figures.percent(left)}"]
          end
        end
      end
    end
  end
end
