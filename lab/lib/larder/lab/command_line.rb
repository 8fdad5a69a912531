# frozen_string_literal: true

# The options that all commands of the lab have: files for the report, lists of names, the seed.

require "larder/cli/options"
require_relative "errors"

module Larder
  module Lab
    # For classes with a `parser`, see {CLI::Options}.
    module CommandLine
      include CLI::Options

      # Forms in which a document can be written to a file: option, what it is. {Reports} has a class for each.
      FORMS = { "json" => "everything, raw samples included", "markdown" => "the tables, to paste into an issue",
                "html" => "one page with charts; needs no network" }.freeze

      # @return [Hash{String=>String}] files to be written, by the names of {FORMS}
      def outputs
        @outputs ||= {}
      end

      # @return [Boolean]
      def list?
        @list == true
      end

      # @return [Integer] of what is random: the one that was given, or one that the report tells
      def seed
        @seed ||= Random.new_seed % 1_000_000
      end

      private

      # A parser as every command's: what the command is for, its options, where reports go to, and examples.
      def explained(banner, footer = nil)
        super(banner, footer, width: 24) do |options|
          yield options if block_given?
          output_options(options)
        end
      end

      def seed_option(options, words = "seed of the order of rounds, to repeat a run")
        options.on("--seed N", Integer, words) { |number| @seed = number.abs }
      end

      def output_options(options)
        options.separator("\nOutput:")
        FORMS.each do |form, what|
          options.on("--#{form} FILE", "also write #{what}") { |file| outputs[form] = file }
        end
      end
    end
  end
end
