# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../errors"

module Larder
  module Lab
    module Suites
      module Replay
        # Replays requests on a store. A read that misses stores the value, if the application stored it; what was
        # computed then is only counted.
        class Player
          include Clock

          # Seconds that entries live in the store, at most: it may be in a server of the user's.
          LONGEST = 300
          private_constant :LONGEST

          # @param store [ActiveSupport::Cache::Store] gets what was there when recording began
          # @param script [Script]
          def initialize(store, script)
            @store = store
            @script = script
            @requests = script.requests
            @local = store.respond_to?(:with_local_cache)
            @reads = @hits = @saved = 0
            @stored_at = {}.compare_by_identity
            script.entries.each { |entry| write(entry) if entry.warm && entry.stored }
          end

          # Replays all requests. Values expire as they did by the recorded times.
          # @return [Hash{String=>Object}] reads, hits, seconds of computing that hits saved, and of the calls
          # @raise [Invalid] for a wrong value
          def rehearse
            started = now
            @requests.each_index do |number|
              @now = @requests[number].start
              play(number) || wrong(number)
            end
            @now = nil
            counted.merge("seconds" => now - started)
          end

          # @param number [Integer] of a request; after the last comes the first
          # @return [Boolean] whether all values were right
          def play(number)
            steps = @requests[number % @requests.size].steps
            return run(steps) unless @local

            @store.with_local_cache { run(steps) }
          end

          # Replays requests when they came.
          # @param speed [Float] how many times as fast
          # @param window [Float] seconds
          # @return [Hash{String=>Object}] of the requests: seconds of one, how many, and percentiles
          # @raise [Invalid] for a wrong value
          def play_on_time(speed:, window:)
            began = now
            requests = @requests.take_while { |request| request.start / speed <= window }
            taken = requests.map.with_index do |request, number|
              due = began + (request.start / speed)
              wait = due - now
              sleep(wait) if wait.positive?
              started = now
              play(number) || wrong(number)
              now - started
            end
            sorted = taken.sort
            { "seconds" => taken.sum / taken.size, "calls" => taken.size,
              "figures" => { "median" => sorted[taken.size / 2], "p99" => sorted[(taken.size * 0.99).to_i] } }
          end

          private

          def counted
            { "reads" => @reads, "hits" => @hits, "saved" => @saved }
          end

          def wrong(number)
            raise Invalid, "a wrong value in request #{number} of the recording"
          end

          def run(steps)
            right = true
            steps.each do |operation, entries, keys|
              case operation
              when :get then right = false unless get(entries, keys)
              when :set then entries.each { |entry| write(entry) if entry.stored }
              when :delete then keys.size == 1 ? @store.delete(keys.first) : @store.delete_multi(keys.dup)
              when :exist then @store.exist?(keys.first)
              when :increment then @store.increment(keys.first, 1, expires_in: LONGEST)
              end
            end
            right
          end

          def get(entries, keys)
            return @store.read(keys.first, raw: true) || true if entries.first.counter

            expire(entries) if @now
            @reads += entries.size
            return get_one(entries.first) if entries.size == 1

            found = @store.read_multi(*keys)
            present, missed = entries.partition { |entry| found.key?(entry.key) }
            fill(missed.select(&:stored))
            present.each { |entry| hit(entry) }.all? { |entry| found[entry.key] == entry.value }
          end

          def get_one(entry)
            value = @store.read(entry.key)
            if value.nil?
              write(entry) if entry.stored
              return true
            end
            hit(entry)
            value == entry.value
          end

          def hit(entry)
            @hits += 1
            @saved += entry.compute
          end

          def write(entry)
            @store.write(entry.key, entry.value, **lifetime(entry))
          end

          # Entries of a rehearsal expire by the recorded times, see {#expire}.
          def lifetime(entry)
            return { expires_in: [entry.ttl, LONGEST].compact.min } unless @now

            @stored_at[entry] = @now
            { expires_in: LONGEST }
          end

          def fill(entries)
            entries.group_by { |entry| lifetime(entry) }.each do |lifetime, alike|
              @store.write_multi(alike.to_h { |entry| [entry.key, entry.value] }, **lifetime)
            end
          end

          def expire(entries)
            entries.each do |entry|
              at = entry.ttl && @stored_at[entry]
              @store.delete(entry.key) if at && @now - at >= entry.ttl && @stored_at.delete(entry)
            end
          end
        end
      end
    end
  end
end
