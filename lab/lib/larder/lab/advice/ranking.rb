# frozen_string_literal: true

# Orders the choices for one question: those without a constraint first, by time. Tells which of them do not differ
# from the first.

require_relative "constraints"
require_relative "model"

module Larder
  module Lab
    module Advice
      # Ranks.
      class Ranking
        # @return [Question]
        attr_reader :question
        # @return [Model]
        attr_reader :model
        # @return [Constraints]
        attr_reader :constraints
        # @return [Parts]
        attr_reader :parts

        # @param question [Question]
        # @param parts [Parts]
        def initialize(question, parts)
          @question = question
          @parts = parts
          @model = Model.new(parts, Circumstances.of(question, parts.round_trip))
          @constraints = Constraints.new(question, parts, @model)
        end

        # @return [Array<Choice>] that may be chosen, the best first
        def choices
          @choices ||= possible.sort_by { |choice| [constraints.clear?(choice) ? 0 : 1, mean(choice)] }
        end

        # @return [Choice, nil]
        def best
          @best ||= possible.min_by { |choice| [constraints.clear?(choice) ? 0 : 1, mean(choice)] }
        end

        # @return [Array<Choice>] of which no difference to the first is shown; nothing speaks against them
        def ties
          @ties ||= candidates.drop(1).select { |choice| same?(choice, best) }
        end

        # @param choice [Choice]
        # @param other [Choice]
        # @return [Boolean] is no difference shown: is it within its interval, or within the noise of what was measured?
        def same?(choice, other)
          one, two = [choice, other].map { |each| model.mixed(each) }
          one.same?(two) || (one.value - two.value).abs < parts.noise * [choice, other].map { |each| work(each) }.max
        end

        # @return [Array<Choice>] that stand as well as the first, but for their time
        def candidates
          level = constraints.clear?(best)
          choices.select { |choice| constraints.clear?(choice) == level }
        end

        # @param choice [Choice] the first under other circumstances
        # @return [Boolean] is it here as good as the first?
        def holds?(choice)
          choice == best || (candidates.include?(choice) && same?(choice, best))
        end

        # The first few, and the best of every store.
        # @param count [Integer]
        # @return [Array<Choice>]
        def shown(count)
          leaders = choices.group_by(&:store).values.map(&:first)
          defaults = choices.select(&:rails_default?)
          choices & [*choices.first(count), *leaders, *defaults]
        end

        # Why choices are left out or put behind, each reason once.
        # @param final [Boolean]
        # @return [Array<Array(String, String)>] what, and why
        def objections(final:)
          found = model.choices.select { |choice| constraints.out?(choice) == final }
          all = found.flat_map { |choice| constraints.against(choice) }.select { |each| each.final == final }
          all.uniq.map { |each| [each.about, each.reason] }
        end

        private

        # Seconds of a call that were measured, without what the network adds.
        def work(choice)
          model.work_mixed(choice.serializer, choice.compressor, choice.store).value
        end

        def possible
          @possible ||= model.choices.select { |choice| model.fits?(choice) && !constraints.out?(choice) }
        end

        # Without resampling, which is wanted of a few only.
        def mean(choice)
          (@means ||= {})[choice] ||= model.line(choice, :rtt).cost(model.circumstances.rtt)
        end
      end
    end
  end
end
