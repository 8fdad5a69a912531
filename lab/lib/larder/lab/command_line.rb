# frozen_string_literal: true

# Owns what the options of all commands have in common: no argument is left over, help and lists are asked for alike,
# and the report goes to a file alike.

require "optparse"
require_relative "errors"

module Larder
  module Lab
    # For classes with a `parser`, which they make by {#explained}; `understood` is for what is left to check when all
    # options are read.
    module CommandLine
      # Forms in which a document can be written to a file: option, name in {Reports}, what it is.
      FORMS = { "json" => ["data", "everything, raw samples included"],
                "csv" => ["csv", "every raw sample, a line for each"],
                "markdown" => ["markdown", "the tables, to paste into an issue"],
                "html" => ["html", "one page with charts; needs no network"] }.freeze

      # @return [Hash{String=>String}] files to be written, by the names of {FORMS}
      def outputs
        @outputs ||= {}
      end

      # @param arguments [Array<String>]
      # @return [self]
      # @raise [UsageError] naming the offending option and what is possible
      def parse(arguments)
        operands(parser.parse(apart(arguments)))
        understood
        self
      rescue OptionParser::ParseError => error
        raise UsageError, error.message
      end

      # @return [Boolean]
      def help?
        @help == true
      end

      # @return [Boolean]
      def list?
        @list == true
      end

      # @return [String]
      def help
        parser.to_s
      end

      # @return [Integer] of what is random: the one that was given, or one that the report tells
      def seed
        @seed ||= Random.new_seed % 1_000_000
      end

      private

      # A parser as every command's: what the command is for, its options, where reports go to, and examples.
      def explained(banner, footer = nil)
        OptionParser.new do |options|
          options.require_exact = true
          options.summary_width = 24
          options.banner = banner
          yield options if block_given?
          output_options(options)
          options.separator(footer) if footer
        end
      end

      def understood; end

      # What is no option. A command that takes some overrides this.
      def operands(rest)
        raise UsageError, "unexpected argument #{rest.first}" unless rest.empty?
      end

      # "--seed=7" as "--seed 7": a parser that requires exact names knows the one form only.
      def apart(arguments)
        arguments.flat_map { |each| each.match?(/\A--[a-z][a-z-]*=/) ? each.split("=", 2) : [each] }
      end

      def seed_option(options, words = "order of the rounds, to repeat a run")
        options.on("--seed N", Integer, words) { |number| @seed = number.abs }
      end

      def output_options(options)
        options.separator("\nOutput:")
        FORMS.each do |form, (_, what)|
          options.on("--#{form} FILE", "also write #{what}") { |file| outputs[form] = file }
        end
        options.on("-h", "--help", "this text") { @help = true }
      end
    end
  end
end
