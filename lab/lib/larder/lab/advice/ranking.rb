# frozen_string_literal: true

# Chooses: the simplest of those choices that are not shown to be slower than the fastest.

require_relative "../bench/verdict"
require_relative "constraints"

module Larder
  module Lab
    module Advice
      # Each {Choice} under the circumstances of one question.
      class Ranking
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
        def alike
          @alike ||= candidates.select do |choice|
            choice == candidates.first ||
              Bench::Verdict.for_an_application(ratio(choice, candidates.first)) != :slower
          end
        end

        # @return [Choice, nil] the advice; nil if nothing may be chosen
        def best
          @best ||= alike.min_by do |choice|
            backplane = question.several? && choice.facts.messages.nil? ? 1 : 0 # another server
            [choice.codecs.size + backplane, seconds(choice)]
          end
        end

        def ratio(choice, other) = model.ratio(cost(choice), cost(other))

        # @return [Float] seconds of a call, the mean of a write and its reads
        def seconds(choice) = model.seconds(cost(choice))

        private

        def cost(choice) = @costs[choice] ||= model.mean(*model.calls(choice, question), question)
      end
    end
  end
end
