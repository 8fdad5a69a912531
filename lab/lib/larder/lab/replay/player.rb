# frozen_string_literal: true

require_relative "../clock"
require_relative "../errors"
require_relative "../histogram"

module Larder
  module Lab
    module Replay
      # Replays requests on a store. A read that misses stores the value, if the application stored it; the value is
      # not computed, but the time that a hit saves is counted.
      class Player
        include Clock

        # Seconds that entries live in the store, at most: it may be in a server of the user's.
        LONGEST = 300

        # The store gets what was there when recording began.
        def initialize(store, script)
          @store = store
          @requests = script.requests
          @local = store.respond_to?(:with_local_cache)
          @reads = @hits = @saved = 0
          @stored_at = {}.compare_by_identity
          script.entries.each { |entry| write([entry]) if entry.warm && entry.stored }
        end

        # Replays all requests. Values expire as they did by the recorded times. Answers reads, hits, and the seconds of
        # computing that hits saved. Raises Invalid for a wrong value.
        def rehearse
          @requests.each_index do |number|
            @now = @requests[number].start
            right(number)
          end
          @now = nil
          { "reads" => @reads, "hits" => @hits, "saved" => @saved }
        end

        # Replays a request; after the last comes the first. Answers whether all values were right.
        def play(number)
          steps = @requests[number % @requests.size].steps
          @local ? @store.with_local_cache { run(steps) } : run(steps)
        end

        # Replays requests when they came, `speed` times as fast, for `window` seconds. A request that was due while
        # another one was served has waited since then. A wrong value is Invalid.
        def play_on_time(speed:, window:)
          histogram = Histogram.new
          began = now
          @requests.take_while { |request| request.start / speed <= window }.each_with_index do |request, number|
            due = began + (request.start / speed)
            started = now
            if started < due
              sleep(due - started)
              due = now
            end
            right(number)
            histogram.record(((now - due) / Histogram::SECONDS).round)
          end
          { "seconds" => histogram.mean, "calls" => histogram.count, "figures" => { "histogram" => histogram.to_h } }
        end

        private

        def right(number) = play(number) || raise(Invalid, "a wrong value in request #{number} of the recording")

        def run(steps)
          right = true
          steps.each do |operation, entries, keys|
            case operation
            when :get then right = false unless get(entries, keys)
            when :set then write(entries)
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
          return right?(entries.first, @store.read(keys.first)) if entries.size == 1

          found = @store.read_multi(*keys)
          write(entries.reject { |entry| found.key?(entry.key) })
          entries.all? { |entry| !found.key?(entry.key) || right?(entry, found[entry.key]) }
        end

        def right?(entry, value)
          return write([entry]) || true if value.nil?

          @hits += 1
          @saved += entry.compute
          value == entry.value
        end

        def write(entries)
          entries.select(&:stored).group_by { |entry| lifetime(entry) }.each do |seconds, alike|
            values = alike.to_h { |entry| [entry.key, entry.value] }
            next @store.write_multi(values, expires_in: seconds) if values.size > 1

            @store.write(*values.first, expires_in: seconds)
          end
        end

        # Entries of a rehearsal expire by the recorded times, see {#expire}.
        def lifetime(entry)
          @stored_at[entry] = @now if @now
          @now ? LONGEST : [entry.ttl, LONGEST].compact.min
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
