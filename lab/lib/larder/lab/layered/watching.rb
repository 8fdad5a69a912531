# frozen_string_literal: true

# Changes keys on one machine and reads them on another all the time: how long does that one answer old values?

require_relative "../clock"
require_relative "../errors"

module Larder
  module Lab
    module Layered
      # A thread for each key. Versions go up from 1; 0 is what is there before. The versions are also in files, which
      # stand for the database from which a missing value is computed.
      class Watching
        include Clock

        # Seconds between two reads of a key.
        PAUSE = 0.0005
        # Answers of one version in a row: when the first of these reads began, and the last.
        Segment = Struct.new(:version, :first, :last)

        # How long each change was not seen.
        # @param changes [Array<Array(Integer, Float, Float)>] version, when the write began, and when it had returned
        # @param segments [Array<Array(Integer, Float, Float)>] of a {Segment} each
        # @return [Array<Array(Float, Float)>] seconds from when the write had returned, and from when it began, to the
        #   begin of the last read that answered what was before; 0: there was none
        def self.ages(changes, segments)
          changes.map do |version, begun, returned|
            last = segments.filter_map { |seen, _, until_then| until_then if seen < version }.max || begun
            [[last - returned, 0.0].max, [last - begun, 0.0].max]
          end
        end

        # @param store [ActiveSupport::Cache::Store]
        # @param source [String] a directory
        # @param keys [Integer]
        # @param expires_in [Float, nil] of entries
        def initialize(store, source:, keys:, expires_in:)
          @store = store
          @source = source
          @keys = keys
          @options = { expires_in: expires_in }.compact
        end

        # Makes the first versions.
        # @return [void]
        def begin
          @keys.times { |key| put(key, 0) }
        end

        # @param start [Float] the threads do not begin all at once
        # @param to [Float]
        # @param rate [Float] changes a second of each key
        # @param seed [Integer]
        # @return [Array<Array>] by key: see {Watching.ages}
        def change(start:, to:, rate:, seed:)
          threads = Array.new(@keys) do |key|
            Thread.new { changes(key, start, to, rate, Random.new(seed + key)) }
          end
          threads.map(&:value)
        end

        # @param to [Float]
        # @return [Array<Array>] by key: see {Watching.ages}
        def watch(to:)
          Array.new(@keys) { |key| Thread.new { seen(key, to).map(&:to_a) } }.map(&:value)
        end

        private

        def changes(key, start, to, rate, random)
          made = []
          due = start
          loop do
            due = [due, now].max - (Math.log(1.0 - random.rand) / rate)
            break if due >= to

            sleep([due - now, 0].max)
            begun = now
            put(key, made.size + 1)
            made << [made.size + 1, begun, now]
          end
          made
        end

        def put(key, version)
          File.write("#{path(key)}.new", version)
          File.rename("#{path(key)}.new", path(key))
          @store.write("watched/#{key}", version, **@options)
        end

        def seen(key, to)
          segments = []
          while (started = now) < to
            version = @store.fetch("watched/#{key}", **@options) { Integer(File.read(path(key))) }
            if segments.last&.version == version
              segments.last.last = started
            else
              segments << Segment.new(version, started, started)
            end
            sleep PAUSE
          end
          segments
        end

        def path(key)
          File.join(@source, key.to_s)
        end
      end
    end
  end
end
