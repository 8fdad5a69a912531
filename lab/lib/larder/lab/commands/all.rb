# frozen_string_literal: true

require_relative "command"
require_relative "../command_line"

module Larder
  module Lab
    module Commands
      # `larder-lab all`: every comparison, one after the other, into one report. What is there is written after each
      # chapter, so that a run that is stopped keeps what it had.
      class All < Command
        NAME = "all"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "every comparison, in one report: larder-lab.html and larder-lab.json"

        # In the order in which they run: what is read first comes first, should the run be stopped.
        ORDER = %w[applications stores calls replay features sessions session-stats latency scaling soak stampede
                   capacity network machines deploy compressors serializers strategies matrix hitratio].freeze

        # @return [Array<String>] names of commands
        def self.parts
          ORDER & Commands.names
        end

        # Which commands, how much, and where to.
        class Options
          include CommandLine

          BANNER = <<~TEXT
            Usage: larder-lab all [options]

            Runs every comparison and writes one report with a chapter for each:
            larder-lab.html and larder-lab.json in this directory, unless --html, --json or
            --markdown name other files. The report is written after each chapter, so a run
            that is stopped keeps the finished chapters.

            Latency, scaling, soak, stampede, capacity and network measure one store of each
            kind. To measure everything, use the commands by themselves, for
            example larder-lab latency.
          TEXT

          FOOTER = <<~TEXT
            Examples:
              larder-lab all --quick
              larder-lab all --except scaling,soak --html /tmp/report.html

            Exit codes: 0 measured, 1 a value was wrong or nothing could be measured,
            2 wrong usage, 130 interrupted.
          TEXT
          # One of each kind, for what takes long.
          KINDS = %w[larder memory solid_cache litecache redis memcached].freeze
          # Who takes part in these, where not all do: an option and its names.
          CHOSEN = { "replay" => ["--only", KINDS], "latency" => ["--only", KINDS], "scaling" => ["--only", KINDS],
                     "soak" => ["--only", KINDS], "capacity" => ["--only", [*KINDS, "valkey"]],
                     "stampede" => ["--only", %w[larder-single-flight memcached-lock larder redis]],
                     "network" => ["--only", %w[larder memory redis memcached]],
                     "matrix" => ["--only", %w[larder redis]] }.freeze
          # Less than by itself.
          LESS = { "stampede" => %w[--sessions 1] }.freeze
          # Pages of an application take long, and so does a long round trip.
          LESS_QUICKLY = { "sessions" => %w[--blocks unchanged,changed,new,empty_off,empty_on],
                           "machines" => %w[--blocks hit_500us,write_500us,hit_20000us,reading_20000us,seen_20000us] }
                         .freeze
          # And who in a quick run.
          CHOSEN_QUICKLY = CHOSEN.except("matrix").merge(
            "capacity" => ["--only", KINDS],
            "network" => ["--only", %w[larder memory redis memcached]]
          ).freeze
          DEFAULT_OUTPUTS = { "html" => "larder-lab.html", "json" => "larder-lab.json" }.freeze
          private_constant :BANNER, :FOOTER, :LESS, :LESS_QUICKLY

          # @return [Array<String>] names of commands
          attr_reader :parts

          def initialize
            @parts = All.parts
            @passed = []
          end

          # @param name [String] of a command
          # @return [Array<String>] its arguments
          def arguments_for(name)
            option, names = (quick? ? CHOSEN_QUICKLY : CHOSEN)[name]
            less = (quick? ? LESS_QUICKLY : LESS).fetch(name, [])
            [*@passed, *less, *([option, names.join(",")] if option)]
          end

          # @return [Boolean]
          def quick?
            @passed.include?("--quick")
          end

          # @return [String]
          def list
            width = All.parts.map(&:size).max
            All.parts.map { |name| "  #{name.ljust(width)}  #{Commands.fetch(name)::SUMMARY}" }.join("\n")
          end

          private

          def understood
            raise UsageError, "--only and --except leave nothing" if parts.empty?

            outputs.replace(DEFAULT_OUTPUTS) if outputs.empty?
          end

          def parser
            @parser ||= explained(BANNER, FOOTER) do |options|
              options.separator("\nOptions:")
              options.on("--quick", "a rough result in minutes: fewer rounds", "and stores in most comparisons;",
                         "two pages of an application") do
                @passed << "--quick"
              end
              options.on("--only A,B", Array, "these comparisons") { |names| @parts &= known(names) }
              options.on("--except A,B", Array, "all but these") { |names| @parts -= known(names) }
              options.on("--seed N", Integer, "seed of the order of rounds, to repeat a run") do |n|
                @passed.push("--seed", n.to_s)
              end
              options.on("--list", "list the comparisons") { @list = true }
            end
          end

          def known(names)
            unknown = names - All.parts
            raise UsageError, "unknown comparison #{unknown.first}; known: #{All.parts.join(", ")}" if unknown.any?

            names
          end
        end

        # @param arguments [Array<String>]
        # @return [Integer] exit code
        # @raise [UsageError]
        def run(arguments)
          @chapters = []
          @files = nil
          super
        end

        private

        def kept
          @chapters.any? ? "what was measured is in #{@files.join(" and ")}" : super
        end

        def findings(options, started)
          @files = options.outputs.values
          options.parts.each_with_index do |name, at|
            save_all(options, started) if @chapters.any?
            @err.puts("#{at + 1}/#{options.parts.size} #{name}: #{Commands.fetch(name)::SUMMARY}")
            @chapters << part(name, options)
          end
          document(@chapters, started)
        end

        # A comparison that cannot be made is a chapter that says why; the others go on.
        def part(name, options)
          command = Commands.fetch(name).new(@out, @err)
          command.watched(command.options_for(options.arguments_for(name)))
        rescue Error, UsageError, SystemCallError => error
          @err.puts("  #{name}: #{error.message}")
          Document::Chapter.new(key: name, title: name.capitalize, failed: true,
                                warnings: ["Not measured: #{error.message}"])
        end

        # The run goes on where the disk is full now: there may be room at its end.
        def save_all(options, started)
          document = document(@chapters, started)
          options.outputs.each do |form, path|
            save(document, form, path)
          rescue UsageError => error
            @err.puts("  not saved yet: #{error.message}")
          end
        end
      end
    end
  end
end
