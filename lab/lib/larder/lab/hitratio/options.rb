# frozen_string_literal: true

require_relative "../command_line"
require_relative "formats"
require_relative "policies"
require_relative "published"
require_relative "size"
require_relative "synthetic"

module Larder
  module Lab
    module Hitratio
      # The options of `larder-lab hitratio`: parsed, checked, explained.
      class Options
        include CommandLine

        BANNER = <<~TEXT
          Usage: larder-lab hitratio [TRACE...] [options]

          Replays traces of requests through Larder and through simulations of other
          eviction policies. Each object is read, and stored after a miss. Larder uses a
          file of exactly the size under test, index and overhead included; the
          simulations have no overhead.

          A trace is a file: oracleGeneral records (.bin, .oracleGeneral), key,size per
          line (.csv), an ARC trace (.lis, .arc), or one integer per line, each optionally
          compressed by gzip; or a recording, see larder-lab replay. Or it is a pattern:
          zipf, scan, loop or shift, with settings such as
          zipf:objects=1000000,skew=0.8,requests=2000000. Default: all patterns.
        TEXT

        FOOTER = <<~TEXT
          How to read the table: "misses" is the share of requests that missed, "to LRU"
          the difference to exact LRU in percentage points, and "to Belady" the part
          that is covered of the distance from LRU to Belady's theoretical minimum.

          Examples:
            larder-lab hitratio cluster52.oracleGeneral.bin
            larder-lab hitratio web.trace.gz --size 64MiB,1GiB --object-size 900
            larder-lab hitratio *.trace.gz --policy larder,lru,belady --json run.json
            larder-lab hitratio zipf:skew=0.8 scan loop:objects=50000 shift

          Exit codes: 0 replayed, 2 wrong usage, 130 interrupted.
        TEXT
        DEFAULT_SIZES = ["1%", "5%", "10%", "20%"].freeze
        # Of --quick: sizes, and how many objects and requests a pattern has that does not say.
        QUICK_SIZES = ["5%", "20%"].freeze
        QUICK_PATTERN = { objects: 10_000, requests: 40_000 }.freeze
        # Where no trace is named, so that all patterns take some minutes.
        UNNAMED_PATTERN = { requests: 250_000 }.freeze
        private_constant :BANNER, :FOOTER, :QUICK_SIZES, :QUICK_PATTERN, :UNNAMED_PATTERN

        # @return [Array<String>] files and patterns
        attr_reader :traces

        # @return [String, nil] format of the files; nil: by their names
        attr_reader :format

        # @return [Array<String>] names of policies
        attr_reader :policies

        # @return [Integer, nil] bytes of each object of a trace that does not say; nil: chosen by the size
        attr_reader :object_bytes

        # @param arguments [Array<String>]
        # @return [Options]
        # @raise [UsageError] naming the offending option and what is possible
        def self.parse(arguments)
          new.parse(arguments)
        end

        def initialize
          @policies = Policies.names
          @pattern = {}
        end

        # @return [Array<Size>] as asked for, or the usual shares
        def sizes
          @sizes || (@quick ? QUICK_SIZES : DEFAULT_SIZES).map { |text| Size.parse(text) }
        end

        # @return [Boolean] were sizes asked for?
        def sized?
          !@sizes.nil?
        end

        # @return [Hash{Symbol=>Integer}] what patterns are told that do not say it themselves: objects, requests, seed
        def pattern
          return QUICK_PATTERN.merge(@pattern) if @quick

          @unnamed ? UNNAMED_PATTERN.merge(@pattern) : @pattern
        end

        # @return [String] policies, patterns and formats
        def list
          patterns = Synthetic::PATTERNS.map { |name, (title, settings)| [name, "#{title}#{told(settings)}"] }
          formats = Formats::TABLE.map { |name, (_, title)| [name, title] }
          ["Policies (--policy):", "  #{Policies.names.join(", ")}", "", "Patterns:", *listed(patterns),
           "", "Formats of files (--format):", *listed(formats)].join("\n")
        end

        private

        def told(settings)
          settings.any? ? " (#{settings.map { |name, value| "#{name}=#{value}" }.join(",")})" : ""
        end

        # The names in lines that fit a terminal.
        def policy_lines
          Policies.names.each_slice(6).map { |names| names.join(", ") }
        end

        def listed(rows)
          width = rows.map { |name, _| name.size }.max
          rows.map { |name, title| "  #{name.ljust(width)}  #{title}" }
        end

        def operands(rest)
          @unnamed = rest.empty?
          @traces = @unnamed ? Synthetic::PATTERNS.keys : rest
        end

        # A pattern that is told nonsense is refused before the run.
        def understood
          traces.each { |trace| Synthetic.check(trace) if Synthetic.named?(trace) } unless list?
        end

        def parser
          @parser ||= explained(BANNER, FOOTER) do |options|
            options.separator("\nOptions:")
            run_options(options)
            size_options(options)
            options.on("--list", "list policies, patterns and formats") { @list = true }
          end
        end

        def run_options(options)
          options.on("--quick", "a rough result: short patterns, two sizes") { @quick = true }
          options.on("--seed N", Integer, "seed of patterns without one (default 1)") { |n| @pattern[:seed] = n.abs }
          options.on("--policy A,B", Array, *policy_lines, "(default: all)") do |names|
            @policies = Policies.check(names)
          end
          options.on("--format NAME", "of trace files, see --list (default: by their",
                     "names, or by their first bytes)") do |name|
            known = Formats.names
            raise UsageError, "unknown format #{name}; known: #{known.join(", ")}" unless known.include?(name)

            @format = name
          end
        end

        def size_options(options)
          options.on("--size A,B", Array, "shares of the bytes of all objects, or bytes",
                     "(default #{DEFAULT_SIZES.join(",")}; for the trace with published",
                     "results also #{Published::SIZES.join(",")})") do |texts|
            @sizes = texts.map { |text| Size.parse(text) }
          end
          options.on("--object-size N", Integer, "bytes of each object if the trace has no", "sizes (default: 4096,",
                     "or more until the cache has 16 MiB)") do |bytes|
            raise UsageError, "--object-size must be 1 or more, not #{bytes}" unless bytes.positive?

            @object_bytes = bytes
          end
        end
      end
    end
  end
end
