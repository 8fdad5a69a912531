# frozen_string_literal: true

# Computes what a write and a read take with a choice under given circumstances, as the sum of the measured parts.

require_relative "../break_even"
require_relative "choice"
require_relative "sampling"

module Larder
  module Lab
    module Advice
      # Numbers of a question that calls depend on. reads: for each write; rtt: seconds, of the mean machine;
      # seconds_a_bit: on the wire
      Circumstances = Struct.new(:reads, :rtt, :seconds_a_bit, keyword_init: true) do
        # @param question [Question]
        # @param local [Float] seconds of a round trip on one host
        # @return [Circumstances]
        def self.of(question, local)
          new(reads: question.reads, rtt: question.mean_rtt(local),
              seconds_a_bit: question.bandwidth ? 1.0 / question.bandwidth : 0.0)
        end
      end

      # Time of a call = serializer + compressor + store + round trip + bytes on the wire; the last two of servers only.
      class Model
        # Of a call, in the order in which they are drawn.
        PARTS = ["serializer", "compressor", "store", "round trip", "on the wire"].freeze
        # The same for headings of narrow columns.
        SHORT = %w[serializer compressor store trip wire].freeze
        # What the parts of codecs are called in each direction.
        OPERATIONS = { "write" => %w[serialize compress], "read" => %w[deserialize decompress] }.freeze

        # @return [Circumstances]
        attr_reader :circumstances

        # @param parts [Parts]
        # @param circumstances [Circumstances]
        def initialize(parts, circumstances)
          @parts = parts
          @circumstances = circumstances
          @mixed = {}
          @work = {}
        end

        # @return [Array<Choice>] everything that was measured and takes the value
        def choices
          @choices ||= @parts.stores.flat_map { |store| choices_of(store) }
        end

        # @param choice [Choice]
        # @return [Boolean] does the store take so many bytes?
        def fits?(choice)
          !@parts.storing("write", stored_by(choice), bytes(choice)).nil?
        end

        # @param choice [Choice]
        # @return [Integer] bytes that the store gets
        def bytes(choice)
          @parts.bytes(choice.serializer, choice.compressor)
        end

        # @param call [String] "write" or "read"
        # @param choice [Choice]
        # @return [Array<Figure>] seconds, as {PARTS}
        def call(call, choice)
          network = choice.profile.remote? ? [rtt, wire(bytes(choice))] : [Figure.sure(0), Figure.sure(0)]
          work(call, choice) + network
        end

        # @param choice [Choice]
        # @return [Figure] seconds of a call, the mean of a write and the reads that follow it
        def mixed(choice)
          @mixed[choice] ||= begin
            write, read = %w[write read].map { |call| Figure.sum(call(call, choice)) }
            (write + (read * circumstances.reads)) * (1.0 / (circumstances.reads + 1))
          end
        end

        # What a write and its reads take, as a straight line over one of the circumstances.
        # @param choice [Choice]
        # @param field [Symbol] a field of {Circumstances}
        # @param spared [Float] share of what was measured that is left out
        # @return [BreakEven::Line] seconds
        def line(choice, field, spared: 0.0)
          none, one = [0.0, 1.0].map { |x| cycle(choice, circumstances.dup.tap { |each| each[field] = x }, spared) }
          BreakEven::Line.new(name: choice, fixed: none, slope: one - none)
        end

        # The same without bounds of the store or network: codecs only.
        # @param serializer [String]
        # @param compressor [String]
        # @param store [String]
        # @return [Figure] seconds a call that do not depend on the wire, round trips left out
        def work_mixed(serializer, compressor, store)
          choice = Choice.new(store, serializer, compressor)
          write, read = %w[write read].map { |call| Figure.sum(work(call, choice)) }
          (write + (read * circumstances.reads)) * (1.0 / (circumstances.reads + 1))
        end

        private

        def choices_of(store)
          return [] if store == Measuring::CODED && !@parts.stores.include?("larder")

          name = store == Measuring::CODED ? "larder" : store
          serializers_of(store).flat_map do |serializer|
            compressors_of(store, serializer).map { |compressor| Choice.new(name, serializer, compressor) }
          end
        end

        # Larder's store has its own bytes, which others are given by the name "native".
        def serializers_of(store)
          case store
          when "larder" then @parts.serializers & ["larder"]
          when Measuring::CODED then @parts.serializers - ["native"]
          else @parts.serializers - ["larder"]
          end
        end

        def compressors_of(store, serializer)
          return ["none"] if store == "larder"

          found = @parts.compressors(serializer)
          store == Measuring::CODED && serializer == "larder" ? found - ["none"] : found
        end

        # Name of the store's measurement.
        def stored_by(choice)
          choice.store == "larder" && !choice.plain? ? Measuring::CODED : choice.store
        end

        def work(call, choice)
          @work[[call, choice]] ||= begin
            serialize, compress = OPERATIONS.fetch(call)
            [@parts.serializing(serialize, choice.serializer),
             @parts.compressing(compress, choice.serializer, choice.compressor),
             apart(choice, @parts.storing(call, stored_by(choice), bytes(choice)))]
          end
        end

        # A server's time without the round trip that was in it when it was measured here.
        def apart(choice, seconds)
          choice.profile.remote? ? seconds.less(@parts.round_trip) : seconds
        end

        def rtt
          Figure.sure(circumstances.rtt)
        end

        def wire(bytes)
          Figure.sure(8.0 * bytes * circumstances.seconds_a_bit)
        end

        # Seconds of a write and its reads.
        def cycle(choice, given, spared)
          write, read = %w[write read].map { |call| work(call, choice).sum(&:value) * (1 - spared) }
          sent = choice.profile.remote? ? given.rtt + (8.0 * bytes(choice) * given.seconds_a_bit) : 0.0
          write + sent + (given.reads * (read + sent))
        end
      end
    end
  end
end
