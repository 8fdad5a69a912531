# frozen_string_literal: true

# Parses, checks and explains the options of `larder-lab advise`.

require_relative "../command_line"
require_relative "../codecs/lists"
require_relative "../payloads"
require_relative "measuring"
require_relative "question"

module Larder
  module Lab
    module Advice
      # Arguments.
      class Options
        include CommandLine

        # Rounds, and seconds of a block.
        MODES = { quick: [3, 0.01], usual: [3, 0.02], thorough: [7, 0.2] }.freeze
        # What --quick goes without.
        SLOW = %w[json active_support_json zstd-1 brotli-5 gzip-6 file solid_cache valkey].freeze
        COMPRESSORS = %w[none snappy lz4 lz4_flex zstd-1 zstd-3 brotli-5 gzip-6 zlib].freeze

        BANNER = <<~TEXT
          Usage: larder-lab advise --payload SOURCE [options]

          Recommends a cache store, serializer and compressor. It measures the parts of a
          call with your value on this machine, computes what a read and a write take in
          your network, and says what would change the recommendation. If several machines
          share the store, it compares it with Larder in front of it, and in several
          regions one server for all with one in each.

          In a terminal it asks for what was not given. Otherwise it uses the defaults,
          and lists them.
        TEXT
        FOOTER = <<~TEXT
          Examples:
            larder-lab advise --payload product.json --reads 20 --hosts 4 --size 10gb
            larder-lab advise --payload ruby:'{ id: 1, at: Time.now }' --rtt 0.2ms
            larder-lab advise --hosts 40 --regions 2 --hit-ratio 95% --stale 10s
            larder-lab advise --published

          Exit codes: 0 advised, 1 nothing can be advised, 2 wrong usage.
        TEXT
        private_constant :BANNER, :FOOTER

        # @return [Question]
        attr_reader :question

        def initialize
          @mode = :usual
          @given = {}
          @question = Question.new
        end

        # @return [Boolean] only what follows from the published figures?
        def published?
          @published == true
        end

        # @return [Boolean] are the defaults to be taken, without asking?
        def silent?
          @silent == true
        end

        # @return [Boolean]
        def quick?
          @mode == :quick
        end

        # @return [Integer]
        def rounds
          @rounds || MODES.fetch(@mode).first
        end

        # @return [Float] of a block, at least
        def seconds
          MODES.fetch(@mode).last
        end

        # @return [Array<String>]
        def serializers
          chosen(:serializers, Measuring::SERIALIZERS)
        end

        # @return [Array<Class>] of {Codecs::Compressors}; "none" is one
        def compressors
          names = chosen(:compressors, COMPRESSORS) - ["none"]
          Codecs::Compressors.check(["none", *names]).map { |name| Codecs::Compressors.fetch(name) }
        end

        # @return [Array<String>]
        def stores
          @given.fetch(:stores) do
            names = chosen(:stores, Profiles.names)
            names -= Profiles::DATABASES unless question.persistent
            quick? && question.shared_by != "nobody" ? names - ["memory"] : names
          end
        end

        # @return [String] what the value is called
        def payload_title
          name = question.payload
          named?(name) ? Payloads.fetch(name).title : name
        end

        # @return [Hash] for a worker's job
        def payload_job
          name = question.payload
          return { payload: name } if named?(name)

          { payload: "given", source: name.start_with?(Payloads::Given::EXPRESSION) ? name : File.expand_path(name) }
        end

        # @param field [Field]
        # @param text [String]
        # @return [void]
        # @raise [UsageError] if an answer cannot be right
        def check(field, text)
          return unless field.key == :payload
          return if named?(text) || text.start_with?(Payloads::Given::EXPRESSION) || File.file?(text)

          raise UsageError, "--payload #{text}: no such file; an expression begins with ruby:"
        end

        # @return [String]
        def list
          payloads = (Payloads.names - ["given"]).map { |name| "  #{name.ljust(11)} #{Payloads.fetch(name).title}" }
          ["Payloads:", *payloads, "Stores: #{Profiles.names.join(", ")}",
           "Serializers: #{Measuring::SERIALIZERS.join(", ")}", "Compressors: #{COMPRESSORS.join(", ")}"].join("\n")
        end

        private

        def named?(name)
          (Payloads.names - ["given"]).include?(name)
        end

        def chosen(kind, all)
          @given.fetch(kind) { quick? ? all - SLOW : all }
        end

        def understood
          if question.regions > question.hosts
            raise UsageError, "--regions #{question.regions} is more than there are machines (--hosts " \
                              "#{question.hosts})"
          end

          compressors
        end

        def parser
          @parser ||= explained(BANNER, FOOTER) do |options|
            field_options(options)
            run_options(options)
          end
        end

        def field_options(options)
          options.separator("\nYour circumstances:")
          Fields::ALL.each do |field|
            words = field.words.dup
            words[-1] += " (#{field.default})" if field.default.is_a?(String) && field.key != :payload
            on(options, field, words) { |given| take(field, given) }
          end
        end

        # Told apart: "--[no-]x" is unknown to a parser that requires exact names.
        def on(options, field, words, &take)
          return options.on(field.flag, String, *words, &take) unless field.yes_or_no?

          options.on(field.option, *words) { take.call(true) }
          options.on(field.option.sub("--", "--no-")) { take.call(false) }
        end

        def take(field, given)
          text = { true => "yes", false => "no" }.fetch(given, given)
          check(field, text)
          question.answer(field, text)
        end

        def run_options(options)
          options.separator("\nHow:")
          options.on("--published", "use the published figures of compressors;", "measure nothing") do
            @published = true
          end
          options.on("--defaults", "do not ask in a terminal") { @silent = true }
          options.on("--quick", "a rough result in half a minute: fewer choices") { @mode = :quick }
          options.on("--thorough", "seven rounds, longer blocks") { @mode = :thorough }
          options.on("--rounds N", Integer, "processes for each part (3)") { |number| @rounds = positive(number) }
          seed_option(options)
          some(options, :stores, Profiles.names)
          some(options, :serializers, Measuring::SERIALIZERS)
          some(options, :compressors, COMPRESSORS)
          options.on("--list", "payloads, stores, serializers, compressors") { @list = true }
        end

        def positive(number)
          number.positive? ? number : raise(UsageError, "--rounds must be more than 0, not #{number}")
        end

        def some(options, kind, known)
          options.on("--#{kind} A,B", Array, "only these") do |names|
            unknown = names - known
            raise UsageError, "unknown in --#{kind}: #{unknown.first}; known: #{known.join(", ")}" unless unknown.empty?

            @given[kind] = names
          end
        end
      end
    end
  end
end
