# frozen_string_literal: true

require_relative "../../clock"

module Larder
  module Lab
    module Suites
      module Machines
        # Changes keys on one machine and reads them on another all the time: how long does that one answer what was
        # before? Each key has a thread. Versions go up from 1; 0 is what is there before.
        class Ages
          include Clock

          # Keys, changes of each in a second, and seconds between two reads.
          KEYS = 8
          RATE = 5.0
          PAUSE = 0.0005
          # Answers of one version in a row: when the first of these reads began, and the last.
          Segment = Struct.new(:version, :first, :last)

          # @param changes [Array<Array(Integer, Float, Float)>] version, when the write began, and when it had returned
          # @param segments [Array<Segment>]
          # @return [Array<Float>] of each change, seconds from when the write had returned to the begin of the last
          #   read that answered what was before; 0: there was none
          def self.of(changes, segments)
            changes.map do |version, _, returned|
              last = segments.filter_map { |seen| seen.last if seen.version < version }.max
              last ? [last - returned, 0.0].max : 0.0
            end
          end

          # @param store [ActiveSupport::Cache::Store]
          def initialize(store)
            @store = store
          end

          # Stores the first versions.
          # @return [void]
          def begin
            KEYS.times { |key| @store.write("watched/#{key}", 0) }
          end

          # @param until_then [Float]
          # @return [Array<Array>] by key: see {Ages.of}
          def change(until_then)
            each_key { |key| changes(key, until_then, Random.new(key)) }
          end

          # @param until_then [Float]
          # @return [Array<Array>] by key: see {Ages.of}
          def watch(until_then)
            each_key { |key| seen(key, until_then) }
          end

          private

          def each_key(&work)
            Array.new(KEYS) { |key| Thread.new { work.call(key) } }.map(&:value)
          end

          def changes(key, until_then, random)
            made = []
            loop do
              due = now - (Math.log(1.0 - random.rand) / RATE)
              break made if due >= until_then

              sleep([due - now, 0].max)
              begun = now
              @store.write("watched/#{key}", made.size + 1)
              made << [made.size + 1, begun, now]
            end
          end

          def seen(key, until_then)
            segments = []
            while (started = now) < until_then
              version = @store.read("watched/#{key}")
              segments << Segment.new(version, started) unless segments.last&.version == version
              segments.last.last = started
              sleep PAUSE
            end
            segments
          end
        end
      end
    end
  end
end
