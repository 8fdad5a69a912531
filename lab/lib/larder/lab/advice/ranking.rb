# frozen_string_literal: true

# Chooses: the simplest of those choices that are not shown to be slower than the fastest.

require_relative "../bench/verdict"
require_relative "constraints"

module Larder
  module Lab
    module Advice
      # Each {Choice} under the circumstances of one question.
      class Ranking
        # Values of other circumstances that are tried, in their order.
        decades = ->(powers, unit) { powers.flat_map { |power| [1, 2, 5].map { |n| "#{n * (10**power)}#{unit}" } } }
        TRIED = { bandwidth: [*decades[0..4, "mbit"], "none"], rtt: ["0", *decades[1..5, "us"]],
                  size: decades[0..6, "mb"], reads: ["0", "0.1", *decades[0..2, ""]], hosts: %w[1 2] }.freeze
        # Another advice: the field, its values, and what is advised then.
        Flip = Struct.new(:field, :change, :choice)
        FORMATS = { bandwidth: :bits, rtt: :duration, size: :bytes }.freeze
        private_constant :TRIED, :FORMATS

        attr_reader :question, :model

        def initialize(question, model)
          @question = question
          @model = model
          @constraints = Constraints.new(question, model)
          @costs = {}
        end

        # @return [Array<Constraints::Objection>] what speaks against it
        def against(choice) = @constraints.against(choice)

        # @return [Array<Choice>] that may be chosen, the fastest first; those that something speaks against are last
        def choices
          @choices ||= model.choices.reject { |choice| against(choice).any?(&:final) }
                            .sort_by { |choice| [against(choice).size, seconds(choice)] }
        end

        # @return [Array<Choice>] those without an objection; if there is none, those with the fewest
        def candidates
          @candidates ||= choices.select { |choice| against(choice).size == against(choices.first).size }
        end

        # @return [Array<Choice>] the fastest, and those that are not shown to be slower in a way that matters
        def alike = @alike ||= candidates.select { |choice| holds?(choice) }

        # @return [Choice, nil] the advice; nil if nothing may be chosen
        def best
          @best ||= alike.min_by do |choice|
            backplane = question.several? && choice.facts.messages.nil? ? 1 : 0 # another server
            [choice.codecs.size + backplane, seconds(choice)]
          end
        end

        # @return [Boolean] whether it is as good as the fastest
        def holds?(choice)
          fastest = candidates.first
          choice == fastest || (candidates.include?(choice) &&
                                Bench::Verdict.for_an_application(ratio(choice, fastest)) != :slower)
        end

        def ratio(choice, other) = model.ratio(cost(choice), cost(other))

        # @return [Float] seconds of a call, the mean of a write and its reads
        def seconds(choice) = model.seconds(cost(choice))

        # The nearest other circumstances under which the advice is another: because this one is then shown to be
        # slower, or must not be chosen.
        # @return [Array<Flip>] one below and one above for each of the circumstances, where there is one
        def flips
          TRIED.flat_map do |key, texts|
            below, above = texts.map { |text| question.with(key => text) }
                                .reject { |other| place(key, other) == place(key, question) }
                                .partition { |other| place(key, other) < place(key, question) }
            [flip(key, below.reverse, "up to"), flip(key, above, "from")].compact
          end
        end

        private

        def cost(choice) = @costs[choice] ||= model.mean(*model.calls(choice, question), question)

        def flip(key, questions, word)
          questions.each do |other|
            ranking = Ranking.new(other, model)
            next if ranking.best.nil? || ranking.holds?(best)

            value = other.public_send(key)
            words = FORMATS.key?(key) && value ? Reports::Figures.public_send(FORMATS[key], value) : other.said(key)
            return Flip.new(Question::FIELDS.find { |field| field.key == key }, "#{word} #{words}", ranking.best)
          end
          nil
        end

        def place(key, other) = other.public_send(key) || Float::INFINITY
      end
    end
  end
end
