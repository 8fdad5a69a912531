# frozen_string_literal: true

# The process that measures one store, with one codec, on one network after the other. Started by Network::Runner;
# never loaded by the command itself.

require_relative "../clock"
require_relative "../codecs/lists"
require_relative "../codecs/store_options"
require_relative "../payloads"
require_relative "../worker"

module Larder
  module Lab
    module Network
      # Reads and writes a few values through the cache API, behind each of the wires that the job names.
      class Worker < Lab::Worker
        include Clock

        # Keys that a payload is kept under, one after the other.
        KEYS = 8
        # Values that are kept until they are compared, in bytes.
        ROOM = 32 * 1024 * 1024
        # Calls of a lap, at most.
        MOST_CALLS = 50_000

        private

        # With the codec of the job; without one, values go as they are, so that all stores send the same.
        def contender_at(endpoint)
          super.coded_by(**(@job["codec"] ? coding.to_options : { compress: false }))
        end

        def coding
          @coding ||= begin
            serializer, compressor = @job["codec"].split("+")
            Lab::Codecs::StoreOptions.new(Lab::Codecs.serializer(serializer, values.first.last.value),
                                          Lab::Codecs::Compressors.fetch(compressor).new.open.way)
          end
        end

        # @return [Array<Array>] name and payload
        def values
          @values ||= @job["payloads"].map { |name| [name, Payloads.fetch(name).new(@job["source"])] }
        end

        def measure
          values.each { |name, payload| emit("size", payload: name, bytes: size(payload.value)) }
          @job["points"].each_with_index do |point, at|
            @contender = contender_at(point["endpoint"]).open if at.positive?
            values.each { |name, payload| measure_payload(point, name, payload) }
          end
        end

        # Bytes that the store sends, or keeps.
        def size(value)
          store = contender.store
          options = store.send(:merged_options, nil)
          bytes = store.send(:serialize_entry, ActiveSupport::Cache::Entry.new(value), **options)
          bytes.respond_to?(:bytesize) ? bytes.bytesize : nil
        rescue NoMethodError, ArgumentError
          value.is_a?(String) ? value.bytesize : nil
        end

        def measure_payload(point, name, payload)
          keys = Array.new(KEYS) { |i| ["network", name, i] }
          keys.each { |key| written(contender.store.write(key, payload.value, expires_in: 5.minutes), name) }
          writing, reading = [writer(keys, payload.value), reader(keys)]
          report(point, name, "read", payload, reading) { |copy| read(copy, payload, name) }
          report(point, name, "write", payload, writing) { |answer| written(answer, name) }
          keys.each { |key| contender.store.delete(key) }
        end

        def reader(keys)
          store = contender.store
          ->(i) { store.read(keys[i % KEYS]) }
        end

        def writer(keys, value)
          store = contender.store
          ->(i) { store.write(keys[i % KEYS], value, expires_in: 5.minutes) }
        end

        def written(answer, name)
          raise Unavailable, "it refuses #{name}: a write answered #{answer.inspect}" unless answer
        end

        def read(copy, payload, name)
          return unless contender.class.keeps_values?

          raise Invalid, "a wrong value came back: #{shown(copy)} instead of #{name}" unless payload.same?(copy)
        end

        # Laps until they have taken long enough; what they answered is looked at between them.
        def report(point, name, operation, payload, call, &check)
          pace = lap(1, call, &check)
          most = (ROOM / [payload.bytes.bytesize, 1].max).clamp(2, MOST_CALLS)
          calls = 0
          seconds = 0.0
          GC.start
          while calls < @job["calls"] || seconds < @job["seconds"]
            left = [(@job["seconds"] - seconds) / [pace, 1e-7].max, @job["calls"] - calls].max
            size = left.ceil.clamp(1, most)
            took = lap(size, call, &check)
            seconds += took
            calls += size
            pace = took / size
          end
          emit("block", payload: name, operation: operation, rtt: point["rtt"], bandwidth: point["bandwidth"],
                        calls: calls, seconds: seconds)
        end

        def lap(size, call, &check)
          answers = Array.new(size)
          started = now
          size.times { |i| answers[i] = call.call(i) }
          took = now - started
          answers.each(&check)
          took
        end
      end
    end
  end
end

Larder::Lab::Network::Worker.main if $PROGRAM_NAME == __FILE__
