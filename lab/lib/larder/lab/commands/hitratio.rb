# frozen_string_literal: true

require_relative "command"
require_relative "../hitratio/replay"
require_relative "../hitratio/synthetic"

module Larder
  module Lab
    module Commands
      # `larder-lab hitratio`: how many requests of a trace miss, in Larder and under other policies.
      class Hitratio < Command
        Traces = Lab::Hitratio
        named "hitratio", "misses on traces of requests: Larder, LRU, FIFO, ARC, S3-FIFO, LIRS, Belady"

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
        # Sizes of a quick run, and objects and requests of its patterns.
        QUICK_SIZES = %w[5% 20%].freeze
        QUICK_PATTERN = { objects: 10_000, requests: 40_000 }.freeze

        # Files and patterns.
        attr_reader :traces

        def sizes = @sizes || (@quick ? QUICK_SIZES : DEFAULT_SIZES).map { |text| Traces::Size.parse(text) }

        # Settings of patterns that are not the usual ones.
        def pattern = { **(@quick ? QUICK_PATTERN : {}), seed: @seed || 1 }

        def list
          ["Policies (--policy):", "  #{Traces::Policies.names.join(", ")}", "",
           "Patterns:", *listed(Traces::Synthetic::PATTERNS), "",
           "Formats of files:", *listed(Traces::Formats::TABLE.transform_values(&:last))]
        end

        def chapter
          patterns, files = traces.partition { |given| Traces::Synthetic.named?(given) }
          made = patterns.map { |given| Traces::Synthetic.make(given, **pattern) } +
                 files.map { |given| Traces::Formats.read(given) }
          rows = Traces::Replay.new(sizes: sizes, policies: @policies || Traces::Policies.names,
                                    progress: Progress.new(@err), published: @sizes.nil?).run(made)
          shares = " of the bytes of all objects" if sizes.all?(&:share)
          facts = ["caches of #{sizes.join(", ")}#{shares}", ("seed #{pattern[:seed]}" if patterns.any?)].compact
          Traces::Chapter.new(rows, facts: facts).to_chapter
        end

        private

        def operands(rest)
          @traces = rest.empty? ? Traces::Synthetic::PATTERNS.keys : rest
        end

        def understood
          raise UsageError, "--policy and --size: name at least one" if [@policies, @sizes].include?([])
        end

        def declare(options)
          options.separator("\nOptions:")
          options.on("--quick", "a rough result: short patterns, two sizes") { @quick = true }
          seed_option(options, "seed of patterns (default 1)")
          options.on("--policy A,B", Array, Traces::Policies.names.join(", "), "(default: all)") do |names|
            @policies = Traces::Policies.check(names)
          end
          options.on("--size A,B", Array, "shares of the bytes of all objects, bytes, or as",
                     "200x100KB: 200 objects, each of 100 KB",
                     "(default #{DEFAULT_SIZES.join(",")}; for the trace with published",
                     "results also #{Traces::SIZES.join(",")})") do |texts|
            @sizes = texts.map { |text| Traces::Size.parse(text) }
          end
          options.on("--list", "list policies, patterns and formats") { @list = true }
        end
      end
    end
  end
end
