# frozen_string_literal: true

# Searches for what would change the answer: for each circumstance the nearest value, below and above, from which
# another choice is the first.

require_relative "../reports/figures"
require_relative "ranking"

module Larder
  module Lab
    module Advice
      # Looks around an answer.
      class Flips
        Figures = Reports::Figures

        # input: option; now: as it is; change: as it would have to be; choice: that would then be the first; factor: by
        # which a number changes, nil of a yes or no; clear: does nothing speak against it?
        Flip = Struct.new(:input, :now, :change, :choice, :factor, :clear, keyword_init: true)

        # Circumstances that a straight line is drawn over.
        LINES = { reads: "--reads", rtt: "--rtt", seconds_a_bit: "--bandwidth" }.freeze
        # A size just beyond a bound, and just within.
        BEYOND = 1.01
        WITHIN = 0.99
        # Bounds of memory that are looked at on either side.
        BOUNDS = 12
        # A change by more than this is none that anybody asks about.
        FARTHEST = 1e6

        # @param ranking [Ranking]
        def initialize(ranking)
          @ranking = ranking
          @question = ranking.question
        end

        # @return [Array<Flip>] the nearest first, those without a number last
        def all
          @all ||= [*lines, *sizes].sort_by { |flip| Math.log(flip.factor).abs } + answers
        end

        # @return [Array<String>] options that change nothing, however far
        def without_effect
          LINES.values - all.map(&:input)
        end

        private

        # The first must be beaten by more than the noise: it is set against the others with that much less to do.
        def contest(field)
          model = @ranking.model
          others = (@ranking.candidates - [@ranking.best]).map { |choice| model.line(choice, field) }
          BreakEven.new([model.line(@ranking.best, field, spared: @ranking.parts.noise), *others])
        end

        def lines
          LINES.flat_map { |field, input| around(field, input) }
        end

        def around(field, input)
          at = @ranking.model.circumstances[field]
          pieces = contest(field).pieces
          index = pieces.index { |piece| piece.cover?(at) }
          below = pieces[index - 1] if index.positive?
          edges = [[below, pieces[index].from], [pieces[index + 1], pieces[index].to]]
          edges.filter_map { |piece, edge| flip(field, input, at, piece.name, edge) if piece }
        end

        def flip(field, input, at, choice, edge)
          return if at.zero? || edge.zero?

          factor = edge / at
          change = change(field, edge, above: edge > at)
          return if change.nil? || Math.log(factor).abs > Math.log(FARTHEST)

          Flip.new(input: input, now: said(input), change: change, choice: choice, factor: factor,
                   clear: @ranking.constraints.clear?(choice))
        end

        # More seconds for a bit are less bandwidth.
        def change(field, edge, above:)
          case field
          when :reads then "#{word(above)} #{Figures.significant(edge)} a write"
          when :rtt then round_trip(edge, above)
          when :seconds_a_bit then "#{word(!above)} #{Figures.bits(1 / edge)}"
          end
        end

        # Of the server that is near, where the mean machine has this one.
        def round_trip(edge, above)
          near = (edge * @question.regions) - (@question.region_rtt * (@question.regions - 1))
          "#{word(above)} #{Figures.duration(near)}" if near.positive?
        end

        def word(above)
          above ? "above" : "below"
        end

        def said(option)
          @question.said(option.delete_prefix("--").tr("-", "_").to_sym)
        end

        # Bounds of what fits into memory.
        def sizes
          share = @ranking.constraints.method(:share)
          held = @ranking.model.choices.select { |choice| choice.profile.in_memory }
          bounds = held.map { |choice| @question.memory / share.call(choice) }.uniq.sort
          below, above = bounds.partition { |bound| bound < @question.size }
          [first_other(below.reverse, WITHIN, "below"), first_other(above, BEYOND, "above")].compact
        end

        def first_other(bounds, margin, word)
          bounds.first(BOUNDS).each do |bound|
            found = answer(size: (bound * margin).round.to_s) or next
            return Flip.new(input: "--size", now: @question.said(:size), change: "#{word} #{Figures.bytes(bound)}",
                            factor: bound / @question.size, **found)
          end
          nil
        end

        # The first under other circumstances, and whether it is clear; or nil where that is no other.
        def answer(**changes)
          other = Ranking.new(@question.with(**changes), @ranking.parts)
          return if other.best.nil? || other.holds?(@ranking.best)

          { choice: other.best, clear: other.constraints.clear?(other.best) }
        end

        def answers
          found = turns.filter_map do |changes|
            other = answer(**changes) or next
            input, change = changes.first
            Flip.new(input: option(input), now: @question.said(input), change: change, **other)
          end
          found.uniq { |flip| [flip.input, flip.choice] }
        end

        def turns
          yes_or_no = %i[persistent redis_shared_with_jobs trust].map do |key|
            { key => @question.public_send(key) ? "no" : "yes" }
          end
          shared = Fields::WHO - [@question.shared_by]
          regions = { regions: (@question.regions + 1).to_s }
          [hosts, regions, *shared.map { |who| { shared_by: who } }, *yes_or_no].compact
        end

        def hosts
          return { hosts: "1" } if @question.hosts > 1

          { hosts: "2", shared_by: "hosts" } unless @question.given?(:shared_by) && @question.shared_by != "hosts"
        end

        def option(key)
          Fields::ALL.find { |field| field.key == key }.option
        end
      end
    end
  end
end
