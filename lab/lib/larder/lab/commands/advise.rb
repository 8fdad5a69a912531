# frozen_string_literal: true

require_relative "suite"
require_relative "../advice/chapter"

module Larder
  module Lab
    module Commands
      # `larder-lab advise`: which store, serializer and compressor to take.
      class Advise < Suite
        named "advise", "which store, serializer and compressor suit your value and network, and the lines for it"

        SUITES = %w[matrix].freeze
        BANNER = <<~TEXT
          Usage: larder-lab advise [--payload SOURCE] [options]
                 larder-lab advise --from FILE [options]

          Measures 50 products, or your value, in stores with each serializer and
          compressor, adds the time of your network, and advises the simplest choice that
          is not shown to be slower than the fastest, with the lines of configuration; and
          whether to put Larder in front, if several machines share the store.

            larder-lab advise --payload product.json --reads 20 --hosts 4 --size 10gb
            larder-lab advise --from run.json --hosts 40 --stale 10s
        TEXT

        ROWS = %w[larder memory file solid_cache redis memcached].freeze
        # Rows that cannot be advised, by who shares values; and one that is advised after crashes of machines.
        BLIND = { "nobody" => [], "processes" => ["memory"], "hosts" => %w[memory file solid_cache] }.freeze
        DATABASE = "solid_cache-postgresql"
        SLOW = %w[marshal message_pack].freeze

        def chapters = @from ? [again] : super

        def question = @question ||= Advice::Question.new(@circumstances)

        def left_out = @quick && !@blocks ? SLOW : []

        def parse(arguments)
          others = [*Advice::Question::FIELDS.map(&:option), "--from", *FORMS.keys.map { |form| "--#{form}" }]
          @measuring = apart(arguments).grep(/\A--/) - others
          super
        end

        private

        def understood
          question
          return super unless @from && @measuring.any?

          raise UsageError, "--from #{@from}: nothing is measured then; leave out #{@measuring.first}"
        end

        def registry = Advice::Stores

        def usual_rows(_suite)
          ROWS - BLIND.fetch(question.shared_by) + (question.survive == "crash" ? [DATABASE] : [])
        end

        # The store's own part is not needed.
        def chosen(suite)
          return super if @blocks

          super.select { |block| %w[read write].include?(block.heading) && !block.axes.values.intersect?(left_out) }
        end

        def amount_options(options)
          @circumstances = {}
          options.separator("\nYour circumstances (defaults in parentheses):")
          Advice::Question::FIELDS.each do |field|
            default = field.help || field.default
            words = "#{field.words} (#{default})".scan(/\S.{1,50}(?=\s|\z)/)
            options.on(field.flag, String, *words) { |text| @circumstances[field.key] = text }
          end
          options.on("--from FILE", "by a report of advise, matrix or all in JSON") { |file| @from = file }
          super
        end

        # Ratios refer to the advice.
        def base_option(options); end

        def report(run, environment) = Advice::Chapter.new(*run, question: question, environment: environment)

        # Another advice by the samples of a report.
        def again
          found = Document.load(@from)
          stored = found.chapters.find { |chapter| SUITES.include?(chapter.key) && chapter.details["samples"] } or
            raise UsageError, "#{@from}: it has no samples of stores with codecs; larder-lab advise --json " \
                              "FILE writes them"

          environment = found.environment.transform_keys(&:to_sym)
          report(run_of(stored, @from), environment).to_chapter.tap do |chapter|
            chapter.facts << "measured by: #{found.command_line}"
          end
        end

        def run_of(chapter, path)
          samples = Bench::Samples.from(chapter.details.fetch("samples"))
          absent, recorded, settings = chapter.details.fetch_values("absent", "recorded", "settings")
          measured = samples.map(&:block).uniq
          suite = Suites.fetch(chapter.key)
          plan = Bench::Plan.new(suite: suite, blocks: suite.blocks.select { |block| measured.include?(block.key) },
                                 **settings.transform_keys(&:to_sym))
          absent = absent.transform_values do |row|
            Bench::Absence.new(state: row.fetch("state").to_sym, reason: row.fetch("reason"), block: row["block"])
          end
          [SuiteReport::Run.new(absent: absent, recorded: recorded), plan, samples]
        rescue KeyError, ArgumentError, TypeError => error
          raise UsageError, "#{path}: its samples cannot be read: #{error.message}"
        end
      end
    end
  end
end
