# frozen_string_literal: true

# The part that measures what statistics, the dashboard and metrics take of an application: bench/watched/measure.rb.

require "json"
require_relative "figure"
require_relative "programs"

module Bench
  # The recipes application under Puma.
  module Watched
    ABOUT = "the recipes application with statistics, dashboard and metrics, and without"
    OPTIONS = { quick: %w[3 1], full: %w[15 2] }.freeze

    module_function

    # @param mode [Symbol] :quick or :full
    # @param directory [String] for files
    # @return [Array<Bench::Figure>]
    def run(mode, directory)
      variables = House::Environment.variables(File.join(House::ROOT, "examples/recipes/Gemfile"))
      Programs.run(variables, "bundle", "install", "--quiet")
      output = Programs.run({}, "ruby", "bench/watched/measure.rb", *OPTIONS.fetch(mode), directory)
      output.lines.map do |line|
        measured = JSON.parse(line)
        Figure.estimated(*measured.values_at("figure", "unit", "rounds"))
      end
    end
  end
end
