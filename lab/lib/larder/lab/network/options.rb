# frozen_string_literal: true

# Parses, checks and explains the options of `larder-lab network`.

require_relative "../commands/contender_options"
require_relative "../codecs/lists"
require_relative "../payloads"
require_relative "../units"
require_relative "plan"

module Larder
  module Lab
    module Network
      # Arguments, and the {Plan} that follows from them.
      class Options
        include CommandLine
        include Commands::ContenderOptions

        BANNER = <<~TEXT
          Usage: larder-lab network [options]

          Measures what a network does to stores and codecs. A proxy in front of a private
          server adds a round-trip time, half of it in each direction, and limits the
          bandwidth. Reads and writes through the Rails cache API are measured behind it,
          beside stores that use no network. Then a megabyte is written to Redis with
          several codecs, which shows below which bandwidth compression saves time. The
          report compares the measurements with a simple model: the time without a
          network, plus one round trip, plus the bits divided by the bandwidth.
        TEXT

        FOOTER = <<~TEXT
          Bandwidth limits are measured with the middle round-trip time for stores, and
          without one for codecs. The model is a warm connection on an idle network: no
          handshake, no slow start, no loss. The proxy is also used with a server of
          yours; the real round trip to it is added.

          Examples:
            larder-lab network --quick
            larder-lab network --only larder,redis --rtt 0,0.3ms,12ms --bandwidth 1gbit
            larder-lab network --payload ruby:'{ "id" => 1 }' --codecs marshal+none,rails
            larder-lab network --payload page.html --html network.html
            larder-lab network --only redis --redis-url redis://cache.example:6379/1

          Exit codes: 0 measured, 1 a value was wrong or nothing could be measured,
          2 wrong usage, 130 interrupted.
        TEXT

        # rtts and bandwidths as typed; seconds and calls: of a block, at least.
        STORES = %w[larder memory file solid_cache redis valkey memcached].freeze
        DEFAULT = { rounds: 5, seconds: 0.04, calls: 3, rtts: %w[0 0.2ms 0.5ms 1ms 5ms],
                    bandwidths: %w[none 3gbit 1gbit 100mbit],
                    codecs: %w[marshal+none marshal+snappy marshal+lz4 marshal+zstd-3 marshal+zlib larder+none] }.freeze
        QUICK = { rounds: 3, seconds: 0.008, calls: 2, rtts: %w[0 0.5ms 2ms], bandwidths: %w[none 1gbit 100mbit],
                  codecs: %w[marshal+none marshal+snappy marshal+zstd-3], stores: STORES - %w[valkey] }.freeze
        PAYLOADS = %w[hello page megabyte].freeze
        CODEC_PAYLOAD = "books-plain"
        # Other names for pairs.
        PAIRS = { "rails" => "marshal+zlib", "larder" => "larder+none" }.freeze
        private_constant :BANNER, :FOOTER, :DEFAULT, :QUICK, :STORES, :PAYLOADS, :CODEC_PAYLOAD, :PAIRS

        # @param arguments [Array<String>]
        # @return [Options]
        # @raise [UsageError] naming the offending option and what is possible
        def self.parse(arguments)
          new.parse(arguments)
        end

        def initialize
          @mode = DEFAULT
          @given = {}
        end

        # @return [String] contenders, codecs and payloads
        def list
          width = (Contenders.names + Payloads.names).map(&:size).max
          ["Stores (--only, --except); by default #{STORES.join(", ")}:", *listed(Contenders, width), "",
           "Codecs (--codecs SERIALIZER+COMPRESSOR):", "  serializers: #{serializers.join(", ")}",
           "  compressors: #{compressors.join(", ")}", "", "Payloads (--payload):", *listed(Payloads, width)].join("\n")
        end

        # @return [Plan]
        # @raise [UsageError]
        def plan
          @plan ||= Plan.new(rtts: rtts, bandwidths: bandwidths, contenders: contenders, codecs: codecs,
                             payloads: payload ? [payload] : PAYLOADS, codec_payload: payload || CODEC_PAYLOAD,
                             source: @given[:source], rounds: @given[:rounds] || @mode[:rounds],
                             seconds: @mode[:seconds], calls: @mode[:calls], urls: urls, requires: requires,
                             directory: @directory, seed: seed)
        end

        private

        def understood
          load_extensions
          plan unless list?
        end

        def chosen_contenders
          @only || @mode.fetch(:stores, STORES)
        end

        # Without a round trip everything begins.
        def rtts
          given = @given[:rtts] || @mode[:rtts]
          [0.0, *given.map { |text| Units.duration(text, "--rtt") }].uniq.sort
        end

        def bandwidths
          given = @given[:bandwidths] || @mode[:bandwidths]
          [nil, *given.map { |text| Units.bandwidth(text, "--bandwidth") }.compact.uniq.sort.reverse]
        end

        def codecs
          names = @given[:codecs] || (@only && !@only.include?(CODEC_STORE) ? [] : @mode[:codecs])
          (names - ["none"]).map { |name| pair(name) }.uniq
        end

        def pair(name)
          serializer, compressor, more = (PAIRS[name] || name).split("+")
          known = serializers.include?(serializer) && compressors.include?(compressor) && more.nil?
          return "#{serializer}+#{compressor}" if known

          raise UsageError, "--codecs #{name}: a codec is SERIALIZER+COMPRESSOR, of #{serializers.join(", ")} and " \
                            "#{compressors.join(", ")}; or rails, larder"
        end

        # Those that bring the value itself back.
        def serializers
          %w[larder marshal message_pack native]
        end

        def compressors
          Lab::Codecs::Compressors.names
        end

        def payload
          @given[:payload]
        end

        def parser
          @parser ||= explained(BANNER, FOOTER) do |options|
            size_options(options)
            choice_options(options)
          end
        end

        def size_options(options)
          options.separator("\nHow much:")
          options.on("--quick", "a rough result in less than half a minute") { @mode = QUICK }
          options.on("--rounds N", Integer, "processes for each row (default 5)") do |n|
            @given[:rounds] = positive("--rounds", n)
          end
          seed_option(options)
        end

        def choice_options(options)
          options.separator("\nWhat:")
          options.on("--rtt A,B", Array, "round-trip times; 0 is always measured", *defaults(:rtts)) do |texts|
            @given[:rtts] = texts
          end
          options.on("--bandwidth A,B", Array, "bits a second; none is always measured",
                     *defaults(:bandwidths)) { |texts| @given[:bandwidths] = texts }
          contender_options(options)
          options.on("--codecs A,B", Array, "pairs such as marshal+zstd-3, or none", "(default six of them)") do |names|
            @given[:codecs] = names
          end
          options.on("--payload SOURCE", "a file (.json, .marshal or any), a name that",
                     "the list has, or ruby:EXPRESSION") { |text| take_payload(text) }
          extension_options(options)
          options.on("--list", "list stores, codecs and payloads") { @list = true }
          server_options(options)
        end

        def defaults(what)
          ["(default #{DEFAULT[what].join(",")})"]
        end

        def take_payload(text)
          return @given[:payload] = text if Payloads.names.include?(text) && text != "given"

          unless text.start_with?(Payloads::Given::EXPRESSION) || File.file?(text)
            raise UsageError, "--payload #{text}: no such file, and none of #{Payloads.names.join(", ")}; " \
                              "an expression begins with ruby:"
          end

          @given[:payload] = "given"
          @given[:source] = text.start_with?(Payloads::Given::EXPRESSION) ? text : File.expand_path(text)
        end
      end
    end
  end
end
