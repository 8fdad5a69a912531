# frozen_string_literal: true

require_relative "command"

module Larder
  module Lab
    module Commands
      # `larder-lab all`: every comparison, one after the other, into one report. The report is written after each
      # chapter, so that a run that is stopped keeps its chapters, and another run measures the others.
      class All < Command
        named "all", "every comparison, in one report: larder-lab.html and larder-lab.json"

        BANNER = <<~TEXT
          Usage: larder-lab all [options]

          Runs every comparison and writes one report with a chapter for each:
          larder-lab.html and larder-lab.json in this directory, unless --html or --json
          name other files. The report is written after each chapter, so a run
          that is stopped keeps the finished chapters; --continue measures the others.

          Many comparisons measure fewer stores than by themselves, and most take less
          time. To measure everything, use the commands by themselves, for example
          larder-lab latency.
        TEXT
        FOOTER = <<~TEXT
          Examples:
            larder-lab all --quick
            larder-lab all --quick --continue larder-lab.json

          Exit codes: 0 measured, 1 a value was wrong or nothing could be measured,
          2 wrong usage, 130 interrupted.
        TEXT
        # One of each kind, for what takes long.
        KINDS = %w[larder memory solid_cache litecache redis memcached].freeze
        # Without the slowest writes.
        FEWER = (KINDS - ["solid_cache"]).freeze
        # Rows that take part in these, where not all do.
        CHOSEN = { "applications" => [*KINDS, "file", "larder-redis"], "calls" => %w[larder memory redis floor],
                   "replay" => KINDS, "sessions" => %w[larder sql-mariadb memcached redis], "latency" => KINDS,
                   "scaling" => FEWER, "soak" => KINDS, "capacity" => FEWER,
                   "matrix" => %w[larder redis memcached],
                   "stampede" => %w[larder-single-flight memcached-lock larder redis],
                   "network" => %w[larder redis memcached] }.freeze
        CHOSEN_QUICKLY = CHOSEN.except("matrix", "sessions", "applications").freeze
        # Less than by itself, where a suite may take two and a half minutes. Pages of an application take long, and so
        # does a long round trip.
        LESS = Hash.new(%w[--seconds 75].freeze).merge("hitratio" => [],
                                                       "latency" => %w[--sessions 3 --block-seconds 0.8],
                                                       "soak" => %w[--block-seconds 8],
                                                       "stampede" => %w[--sessions 1],
                                                       "stores" => %w[--seconds 75 --except null]).freeze
        LESS_QUICKLY = { "sessions" => %w[--blocks unchanged,changed,new,empty_off,empty_on],
                         "machines" => %w[--blocks hit_500us,write_500us,hit_20000us,seen_20000us] }.freeze
        DEFAULT_OUTPUTS = { "html" => "larder-lab.html", "json" => "larder-lab.json" }.freeze
        OTHERS = %w[overview advise all compare report].freeze

        def self.parts = Commands.names - OTHERS

        def arguments_for(name)
          rows = (@quick ? CHOSEN_QUICKLY : CHOSEN)[name]
          [*("--quick" if @quick), *(["--seed", @seed.to_s] if @seed), *(@quick ? LESS_QUICKLY : LESS)[name],
           *(["--only", rows.join(",")] if rows)]
        end

        def list = listed(All.parts.to_h { |name| [name, Commands.fetch(name)::SUMMARY] })

        private

        def parts = @parts ||= All.parts

        # The comparisons that a report has, but for those that failed.
        def finished(report)
          report.chapters.reject!(&:failed?)
          keys = report.chapters.map(&:key)
          All.parts.select { |name| keys.include?(name == "hitratio" ? name : Commands.fetch(name)::SUITES.first) }
        end

        def understood
          @parts = parts - finished(@stopped) if @stopped
          raise UsageError, "--only, --except and --continue leave nothing" if parts.empty?

          outputs.replace(DEFAULT_OUTPUTS) if outputs.empty?
        end

        def declare(options)
          options.separator("\nOptions:")
          options.on("--quick", "a rough result in minutes: fewer turns", "and stores in most comparisons;",
                     "two pages of an application") { @quick = true }
          options.on("--only A,B", Array, "these comparisons") { |names| @parts = parts & known(names) }
          options.on("--except A,B", Array, "all but these") { |names| @parts = parts - known(names) }
          options.on("--continue FILE", "those that the JSON of a stopped run lacks,",
                     "and those that failed there") { |file| @stopped = Document.load(file) }
          seed_option(options)
          options.on("--list", "list the comparisons") { @list = true }
        end

        def known(names)
          unknown = names - All.parts
          raise UsageError, "unknown comparison #{unknown.first}; known: #{All.parts.join(", ")}" if unknown.any?

          names
        end

        def kept
          return super unless @chapters&.any?

          "what was measured is in #{outputs.values.join(" and ")}" \
            "#{"; #{continuation} measures the rest" if outputs["json"]}"
        end

        # The command that measures the rest as this one would have.
        def continuation
          asked = (["--only", parts.join(",")] if parts != All.parts)
          files = outputs == DEFAULT_OUTPUTS ? [] : outputs.flat_map { |form, path| ["--#{form}", path] }
          line([*("--quick" if @quick), *(["--seed", @seed.to_s] if @seed), *asked,
                "--continue", outputs["json"], *files])
        end

        def findings(started)
          @chapters = []
          parts.each_with_index do |name, at|
            save_all(started) if @chapters.any?
            @err.puts("#{at + 1}/#{parts.size} #{name}: #{Commands.fetch(name)::SUMMARY}")
            @chapters << part(name)
          end
          document(@chapters, started)
        end

        def document(chapters, started) = @stopped ? Document.join([@stopped, super]) : super

        # A comparison that cannot be made is a chapter that says why; the others go on.
        def part(name)
          Commands.fetch(name).new(@out, @err).parse(arguments_for(name)).chapters.first
        rescue Error, UsageError, SystemCallError => error
          @err.puts("  #{name}: #{error.message}")
          Document::Chapter.new(key: name, title: name.capitalize, failed: true,
                                warnings: ["Not measured: #{error.message}"])
        end

        # The run goes on where the disk is full now: there may be room at its end.
        def save_all(started)
          document = document(@chapters, started)
          outputs.each do |form, path|
            save(document, form, path)
          rescue UsageError => error
            @err.puts("  not saved yet: #{error.message}")
          end
        end
      end
    end
  end
end
