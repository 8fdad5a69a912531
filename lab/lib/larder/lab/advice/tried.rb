# frozen_string_literal: true

# Compares the time that the advised lines took on this machine with the model's.

require_relative "../reports/figures"
require_relative "../statistics"
require_relative "model"

module Larder
  module Lab
    module Advice
      # The lines, tried.
      class Tried
        Figures = Reports::Figures
        CALLS = %w[read write].freeze
        # A trial that takes more than so many times as long as its parts add up to, or as much less, is missed.
        MISS = 1.25

        # @param ranking [Ranking]
        # @param choice [Choice]
        # @param results [Rounds::Results, nil] of the lines; nil: they cannot be tried without an application
        def initialize(ranking, choice, results)
          @ranking = ranking
          @choice = choice
          @results = results
        end

        # @return [String] whether the lines work
        def words
          return "Not tried here: it needs an application, and `bin/rails solid_cache:install`." unless @results
          return "It could not be tried here: #{error.message}" if error

          read, write = CALLS.map { |call| Figures.duration(measured(call)) }
          near = " and a server on this machine" if @choice.profile.remote?
          "Tried here with your value#{near}: a read took #{read}, a write #{write}. The parts add up to " \
            "#{CALLS.map { |call| Figures.duration(expected(call)) }.join(" and ")}."
        end

        # @return [String, nil] what the model missed; nil: nothing, or nothing was tried
        def miss
          return if @results.nil? || error

          missed = CALLS.reject { |call| ((1 / MISS)..MISS).cover?(measured(call) / expected(call)) }
          return if missed.empty?

          said = missed.map do |call|
            "a #{call} took #{Figures.duration(measured(call))} where the parts add up to " \
              "#{Figures.duration(expected(call))}"
          end
          "The model misses its own trial: #{said.join(", ")}. The order of the choices may be another than is told."
        end

        private

        def error
          @results.rejected["pasted"]
        end

        def measured(call)
          Statistics.median(@results.seconds("pasted", call))
        end

        # On this machine: a server is a round trip of this machine away, and there is no wire.
        def expected(call)
          own = @ranking.model.call(call, @choice).first(3).sum(&:value)
          @choice.profile.remote? ? own + @ranking.parts.round_trip : own
        end
      end
    end
  end
end
