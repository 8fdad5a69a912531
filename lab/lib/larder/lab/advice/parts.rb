# frozen_string_literal: true

# Keeps what was measured, by the part of a call: serializing, compressing, the store. Computes no call.

require_relative "sampling"

module Larder
  module Lab
    module Advice
      # Times and sizes that the model adds up.
      class Parts
        # Bytes from which Rails compresses, unless it is told otherwise.
        THRESHOLD = 1024

        # @return [Hash{String=>Object}] see {PayloadNature#to_h}
        attr_reader :nature
        # @return [Float] seconds of a round trip to a process on this host, which is part of a server's time; 0.0 where
        #   no server was measured
        attr_reader :round_trip

        # @param nature [Hash{String=>Object}]
        # @param codecs [Rounds::Results] of the kind "parts"
        # @param stores [Rounds::Results] of the kind "store_calls"
        # @param round_trip [Float] seconds
        def initialize(nature:, codecs:, stores:, round_trip: 0.0)
          @nature = nature
          @round_trip = round_trip
          @codecs = codecs
          @stores = stores
          @figures = {}
          @sampling = [codecs, stores].to_h { |results| [results, sampling(results)] }
        end

        # @return [Array<String>] that took the value
        def serializers
          @codecs.plan.names - refused_serializers.keys
        end

        # @return [Hash{String=>String}] serializers that did not, and why
        def refused_serializers
          rejected(@codecs)
        end

        # @return [Array<String>] stores that answered; Larder with codecs of others apart
        def stores
          @stores.plan.names - refused_stores.keys
        end

        # @return [Hash{String=>String}] stores that did not, and why
        def refused_stores
          rejected(@stores)
        end

        # @param serializer [String]
        # @return [Array<String>] compressors that make what it writes smaller, and "none"
        def compressors(serializer)
          bytes = bytes(serializer)
          return ["none"] if bytes < THRESHOLD

          packed(serializer).select { |name, size| name == "none" || (size.is_a?(Integer) && size < bytes) }.keys
        end

        # @return [Hash{String=>String}] compressors that could not be had, and why
        def missing_compressors
          serializers.flat_map { |name| packed(name).grep(->((_, size)) { size.is_a?(String) }) }.to_h
        end

        # @param serializer [String]
        # @param compressor [String]
        # @return [Integer]
        def bytes(serializer, compressor = "none")
          compressor == "none" ? facts(serializer).fetch("bytes") : packed(serializer).fetch(compressor)
        end

        # @param serializer [String]
        # @return [Array<String>] see {Losses}
        def losses(serializer)
          facts(serializer).fetch("losses")
        end

        # @param operation [String] "serialize" or "deserialize"
        # @param serializer [String]
        # @return [Figure] seconds
        def serializing(operation, serializer)
          figure(@codecs, serializer, operation)
        end

        # @param operation [String] "compress" or "decompress"
        # @param serializer [String] whose bytes
        # @param compressor [String]
        # @return [Figure] seconds
        def compressing(operation, serializer, compressor)
          compressor == "none" ? nothing : figure(@codecs, serializer, "#{operation} #{compressor}")
        end

        # @param operation [String] "write" or "read"
        # @param store [String]
        # @param bytes [Integer]
        # @return [Figure, nil] seconds, between those of the sizes that were measured; nil: too large for it
        def storing(operation, store, bytes)
          sizes = sizes(store)
          return if sizes.empty? || bytes > sizes.last

          above = sizes.find { |size| size >= bytes }
          below = sizes.reverse.find { |size| size <= bytes } || above
          between(*[below, above].map { |size| [size, figure(@stores, store, "#{operation} #{size}")] }, bytes)
        end

        # @param store [String]
        # @return [Array<Integer>] bytes that were written and read
        def sizes(store)
          @stores.plan.trials.first.job[:sizes] - @stores.facts(store).fetch("refused")
        end

        # @return [Array<Array>] operation, codec or store, and seconds by round
        def samples
          [@codecs, @stores].flat_map do |results|
            results.samples.group_by { |sample| [sample.name, sample.operation] }.map do |(name, operation), _|
              [operation, name, results.seconds(name, operation)]
            end
          end
        end

        # How far a time may be off by chance: the spread of a measurement over its rounds, in the middle of all. With a
        # few rounds an interval is too narrow as often as not; this is what it is held against.
        # @return [Float] share of a time
        def noise
          @noise ||= begin
            spreads = samples.map { |_, _, seconds| Statistics.spread(seconds) / Math.sqrt(seconds.size) }
            spreads.empty? ? 0.0 : Statistics.median(spreads)
          end
        end

        # @return [Hash{String=>String}] of gems
        def versions
          @codecs.versions.merge(@stores.versions)
        end

        private

        def sampling(results)
          Sampling.new(results.plan.rounds, seed: results.plan.seed)
        end

        def rejected(results)
          results.rejected.transform_values(&:message)
        end

        def facts(serializer)
          @codecs.facts(serializer)
        end

        def packed(serializer)
          facts(serializer).fetch("packed")
        end

        def nothing
          @nothing ||= Figure.sure(0)
        end

        def figure(results, name, operation)
          @figures[[results.plan.kind, name, operation]] ||=
            @sampling.fetch(results).figure(results.seconds(name, operation))
        end

        # By the way from the one to the other.
        def between((below, low), (above, high), bytes)
          return low if below == above

          share = (bytes - below).fdiv(above - below)
          (low * (1 - share)) + (high * share)
        end
      end
    end
  end
end
