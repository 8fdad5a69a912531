# frozen_string_literal: true

require_relative "command"
require_relative "../command_line"
require_relative "../hitratio/chapter"
require_relative "../hitratio/formats"
require_relative "../hitratio/synthetic"
require_relative "../progress"

module Larder
  module Lab
    module Commands
      # The options of `larder-lab hitratio`.
      class HitratioOptions
        include CommandLine

        Traces = Lab::Hitratio
        private_constant :Traces
        BANNER = <<~TEXT
          Usage: larder-lab hitratio [TRACE...] [options]

          Replays traces of requests through Larder, in a file of exactly the size under
          test, and through simulations of other policies, which have no overhead. A trace
          is a file (formats: --list), or a pattern, such as zipf. Default: all patterns.
        TEXT
        FOOTER = <<~TEXT
          Objects of a trace that does not say their sizes have 4096 bytes, or as many as
          leave 16 MiB to the cache.

          Examples:
            larder-lab hitratio cloudPhysicsIO.oracleGeneral.bin
            larder-lab hitratio web.trace.gz --size 200x100KB
            larder-lab hitratio zipf scan --policy larder,lru,belady

          Exit codes: 0 replayed, 2 wrong usage, 130 interrupted.
        TEXT
        DEFAULT_SIZES = %w[1% 5% 10% 20%].freeze
        # Sizes of --quick, and how many objects and requests a pattern has then.
        QUICK_SIZES = %w[5% 20%].freeze
        QUICK_PATTERN = { objects: 10_000, requests: 40_000 }.freeze

        # @return [Array<String>] files and patterns; names of policies
        attr_reader :traces, :policies

        def initialize
          @policies = Traces::Policies.names
          @seed = 1
        end

        # @return [Array<Size>] as asked for, or the usual shares
        def sizes = @sizes || (@quick ? QUICK_SIZES : DEFAULT_SIZES).map { |text| Traces::Size.parse(text) }

        # @return [Boolean] were sizes asked for?
        def sized? = !@sizes.nil?

        # @return [Hash{Symbol=>Integer}] settings of patterns that are not the usual ones
        def pattern = { **(@quick ? QUICK_PATTERN : {}), seed: seed }

        # @return [String] policies, patterns and formats
        def list
          ["Policies (--policy):", "  #{Traces::Policies.names.join(", ")}", "",
           "Patterns:", *listed(Traces::Synthetic::PATTERNS), "",
           "Formats of files:", *listed(Traces::Formats::TABLE.transform_values(&:last))].join("\n")
        end

        private

        def listed(rows) = rows.map { |name, title| "  #{name.ljust(14)} #{title}" }

        def operands(rest)
          @traces = rest.empty? ? Traces::Synthetic::PATTERNS.keys : rest
        end

        def parser
          @parser ||= explained(BANNER, FOOTER) do |options|
            options.separator("\nOptions:")
            options.on("--quick", "a rough result: short patterns, two sizes") { @quick = true }
            seed_option(options, "seed of patterns (default 1)")
            options.on("--policy A,B", Array, Traces::Policies.names.join(", "), "(default: all)") do |names|
              @policies = Traces::Policies.check(names)
            end
            options.on("--size A,B", Array, "shares of the bytes of all objects, bytes, or as",
                       "200x100KB: so many objects, all of that size",
                       "(default #{DEFAULT_SIZES.join(",")}; for the trace with published",
                       "results also #{Traces::SIZES.join(",")})") do |texts|
              @sizes = texts.map { |text| Traces::Size.parse(text) }
            end
            options.on("--list", "list policies, patterns and formats") { @list = true }
          end
        end
      end

      # `larder-lab hitratio`: how many requests of a trace miss, in Larder and under other policies.
      class Hitratio < Command
        Traces = Lab::Hitratio
        private_constant :Traces
        NAME = "hitratio"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "misses on traces of requests: Larder, LRU, FIFO, ARC, S3-FIFO, LIRS, Belady"

        # @return [HitratioOptions]
        def options_for(arguments) = HitratioOptions.new.parse(arguments)

        # @return [Document::Chapter]
        def chapter(options)
          patterns, files = options.traces.partition { |given| Traces::Synthetic.named?(given) }
          traces = patterns.map { |given| Traces::Synthetic.make(given, **options.pattern) } +
                   files.map { |given| Traces::Formats.read(given) }
          rows = Traces::Replay.new(sizes: options.sizes, policies: options.policies, progress: Progress.new(@err),
                                    published: !options.sized?).run(traces)
          shares = " of the bytes of all objects" if options.sizes.all?(&:share?)
          facts = ["caches of #{options.sizes.join(", ")}#{shares}", ("seed #{options.seed}" if patterns.any?)].compact
          Traces::Chapter.new(rows, facts: facts).to_chapter
        end
      end
    end
  end
end
