# frozen_string_literal: true

require "optparse"
require_relative "formats"
require_relative "policies"
require_relative "size"
require_relative "synthetic"

module Larder
  module Lab
    module Hitratio
      # The options of `larder-lab hitratio`: parsed, checked, explained.
      class Options
        BANNER = <<~TEXT
          Usage: larder-lab hitratio TRACE... [options]

          Replays traces of requests through Larder and through simulations of other
          policies: each object is read, and on a miss stored. Larder runs in a file of
          exactly the size under test, its index and all overhead included; the
          simulations have no overhead.

          A trace is a file: oracleGeneral records (.bin, .oracleGeneral), key,size a
          line (.csv), a trace of ARC (.lis, .arc), or one integer a line; each may be
          compressed by gzip. Or a pattern: zipf, scan, loop, shift, with settings as
          zipf:objects=1000000,skew=0.8,requests=2000000.
        TEXT

        FOOTER = <<~TEXT

          How to read the table: "misses" is the share of requests that were not found,
          "to LRU" what that is above (+) or below (-) exact LRU, in points, "way" how
          much of the way from LRU to Belady's unreachable minimum.

          Examples:
            larder-lab hitratio cluster52.oracleGeneral.bin
            larder-lab hitratio web.trace.gz --size 64MiB,1GiB --object-size 900
            larder-lab hitratio *.trace.gz --policy larder,lru,belady --json run.json
            larder-lab hitratio zipf:skew=0.8 scan loop:objects=50000 shift

          Exit codes: 0 replayed, 2 wrong usage, 130 interrupted.
        TEXT
        DEFAULT_SIZES = ["1%", "5%", "10%", "20%"].freeze
        private_constant :BANNER, :FOOTER

        # @return [Array<String>] files and patterns
        attr_reader :traces

        # @return [String, nil] format of the files; nil: by their names
        attr_reader :format

        # @return [Array<Size>]
        attr_reader :sizes

        # @return [Array<String>] names of policies
        attr_reader :policies

        # @return [Integer, nil] bytes of each object of a trace that does not say; nil: chosen by the size
        attr_reader :object_bytes

        # @return [String, nil] file for the JSON report
        attr_reader :json

        # @param arguments [Array<String>]
        # @return [Options]
        # @raise [UsageError] naming the offending option and what is possible
        def self.parse(arguments)
          new.parse(arguments)
        end

        def initialize
          @sizes = DEFAULT_SIZES.map { |text| Size.parse(text) }
          @policies = Policies.names
        end

        # @param arguments [Array<String>]
        # @return [Options] self
        def parse(arguments)
          @traces = parser.parse(arguments)
          raise UsageError, "name a trace to replay" if @traces.empty? && !help?

          self
        rescue OptionParser::ParseError => error
          raise UsageError, error.message
        end

        # @return [Boolean]
        def help?
          @help == true
        end

        # @return [String]
        def help
          parser.to_s
        end

        private

        def parser
          @parser ||= OptionParser.new do |options|
            options.require_exact = true
            options.summary_width = 24
            options.banner = BANNER
            options.separator("\nOptions:")
            measured(options)
            options.on("--json FILE", "also write everything as JSON") { |file| @json = file }
            options.on("-h", "--help", "this text") { @help = true }
            options.separator(FOOTER)
          end
        end

        def measured(options)
          options.on("--size A,B", Array, "shares of the bytes of all objects, or bytes",
                     "(default #{DEFAULT_SIZES.join(",")})") do |texts|
            @sizes = texts.map { |text| Size.parse(text) }
          end
          options.on("--policy A,B", Array, Policies.names.join(", "), "(default: all)") do |names|
            @policies = Policies.check(names)
          end
          options.on("--format NAME", "of files: #{Formats.names.join(", ")}", "(default: by their names)") do |name|
            known = Formats.names
            raise UsageError, "unknown format #{name}; known: #{known.join(", ")}" unless known.include?(name)

            @format = name
          end
          options.on("--object-size N", Integer, "bytes of each object where the trace does", "not say (default: 4096,",
                     "or more until the cache has 16 MiB)") do |bytes|
            raise UsageError, "--object-size must be 1 or more, not #{bytes}" unless bytes.positive?

            @object_bytes = bytes
          end
        end
      end
    end
  end
end
