# frozen_string_literal: true

# Measures what an advice needs, in this order: the nature of the value, the codecs on it, the stores with values of
# the resulting sizes, and at last the lines that are advised.

require "delegate"
require_relative "../clock"
require_relative "../contenders"
require_relative "../statistics"
require_relative "parts"
require_relative "profiles"
require_relative "round_trip"
require_relative "rounds"

module Larder
  module Lab
    module Advice
      # Runs plans of trials one after another.
      class Measuring
        include Clock

        # Larder's store where it is given a serializer or compressor: no call is answered in C then.
        CODED = "larder with codecs"
        SERIALIZERS = %w[larder native marshal message_pack json active_support_json].freeze
        # What a worker needs for starting, until that has been seen.
        BOOT_SECONDS = 0.7
        # Rounds of the lines to paste: they are tried, not compared.
        ROUNDS_OF_LINES = 2
        # Of a block: what finding its length adds, times as long; and seconds for the garbage collections before it.
        FINDING = 1.5
        COLLECTING = 0.04

        # Says which of several runs is going on, and how long it will take.
        class Stages < SimpleDelegator
          # What is going on.
          attr_writer :title
          # Seconds of a process.
          attr_writer :seconds

          # @return [void]
          def start(_title, steps, **options)
            @seconds ||= BOOT_SECONDS
            super("Measuring #{@title}", steps, **options, seconds: steps * @seconds)
          end

          # @return [void]
          def step(label, **)
            super(label, seconds: @seconds)
          end
        end
        private_constant :Stages

        # @return [Hash{Symbol=>Object}] the machine, see {Environment}
        attr_reader :environment

        # @param options [Options]
        # @param progress [Progress]
        def initialize(options, progress:)
          @options = options
          @progress = Stages.new(progress)
          @boot = BOOT_SECONDS
        end

        # @return [Parts]
        # @raise [UsageError] the payload cannot be made
        def parts
          nature = look
          codecs = codecs()
          @environment = codecs.environment
          raise UsageError, refusals(codecs) if codecs.samples.empty?

          Parts.new(nature: nature, codecs: codecs, stores: stores(sizes(codecs)), round_trip: round_trip)
        end

        # Runs lines of configuration.
        # @param configuration [Configuration]
        # @return [Rounds::Results]
        def pasted(configuration)
          job = { **payload, code: configuration.code, variables: configuration.variables, loses: false }
          lines = trial("pasted", job, server: server(configuration.choice.store))
          run("pasted", "the lines to paste", 2, [lines], rounds: [@options.rounds, ROUNDS_OF_LINES].min)
        end

        private

        def look
          started = now
          results = run("nature", "the value", 0, [trial("nature", payload)], rounds: 1)
          @boot = now - started
          failed(results) unless results.rejected.empty?
          results.facts("nature")
        end

        def failed(results)
          raise UsageError, "--payload #{@options.question.payload}: #{results.rejected.values.first.message}"
        end

        def refusals(codecs)
          reasons = codecs.rejected.map { |name, error| "#{name}: #{error.message}" }
          "--payload #{@options.question.payload}: no serializer takes it\n  #{reasons.join("\n  ")}"
        end

        def codecs
          compressors = @options.compressors
          jobs = @options.serializers.map do |name|
            trial(name, { **payload, codec: name, compressors: compressors.map { |each| job_of(each) } })
          end
          run("parts", "serializers and compressors", 2 + (2 * (compressors.size - 1)), jobs)
        end

        def job_of(compressor)
          { name: compressor.key, codec: compressor.codec, options: compressor.options }
        end

        # The smallest, the largest, and one between: the time between two is theirs, by the way.
        def sizes(codecs)
          all = @options.serializers.filter_map { |name| codecs.facts(name) }.flat_map do |facts|
            [facts["bytes"], *facts["packed"].values.grep(Integer)]
          end
          least, most = all.minmax
          middle = Math.sqrt(least * most).round unless @options.quick?
          [least, middle, most].compact.uniq
        end

        def stores(sizes)
          jobs = @options.stores.flat_map do |name|
            own = trial(name, { payload: "hash", store: name, sizes: sizes, plain: name == "larder" },
                        server: server(name), bundle: bundle(name))
            name == "larder" ? [own, trial(CODED, { **own.job, plain: false })] : [own]
          end
          run("store_calls", "stores", 2 * sizes.size, jobs)
        end

        # Of a small message to a process that sends it back.
        def round_trip
          return 0.0 unless @options.stores.any? { |name| Profiles.fetch(name).remote? }

          Statistics.median(RoundTrip.measured)
        end

        def server(store)
          Contenders.fetch(store).server
        end

        # Of a store whose gems are not among those of the codecs.
        def bundle(store)
          Contenders.fetch(store).bundle if Profiles::DATABASES.include?(store)
        end

        def trial(name, job, **others)
          Rounds::Trial.new(name: name, job: job, **others)
        end

        def payload
          @options.payload_job
        end

        def run(kind, title, blocks, trials, rounds: @options.rounds)
          @progress.title = title
          @progress.seconds = @boot + (blocks * ((@options.seconds * FINDING) + COLLECTING))
          plan = Rounds::Plan.new(kind: kind, trials: trials, rounds: rounds, seconds: @options.seconds,
                                  seed: @options.seed)
          Rounds.new(plan, progress: @progress).run
        end
      end
    end
  end
end
