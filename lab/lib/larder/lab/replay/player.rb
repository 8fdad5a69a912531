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

        # `recording` was filled, see {Replay.fill}. The store gets what was there when recording began.
        def initialize(store, recording)
          @store = store
          @requests = recording.requests
          @local = store.respond_to?(:with_local_cache)
          @reads = @hits = @saved = 0
          @stored_at = {}.compare_by_identity
          recording.items.each { |item| write([item]) if item.warm }
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
          steps.each do |operation, items|
            case operation
            when :get then right = false unless get(items)
            when :set then write(items)
            when :delete
              items.size == 1 ? @store.delete(items.first.name) : @store.delete_multi(items.map(&:name))
            when :exist then @store.exist?(items.first.name)
            when :increment then @store.increment(items.first.name, 1, expires_in: LONGEST)
            end
          end
          right
        end

        def get(items)
          first = items.first
          return @store.read(first.name, raw: true) || true if first.counter

          expire(items) if @now
          @reads += items.size
          return right?(first, @store.read(first.name)) if items.size == 1

          found = @store.read_multi(*items.map(&:name))
          write(items.reject { |item| found.key?(item.name) })
          items.all? { |item| !found.key?(item.name) || right?(item, found[item.name]) }
        end

        def right?(item, value)
          return write([item]) || true if value.nil?

          @hits += 1
          @saved += item.compute
          value == item.value
        end

        def write(items)
          items.select(&:stored_value?).group_by { |item| lifetime(item) }.each do |seconds, alike|
            values = alike.to_h { |item| [item.name, item.value] }
            next @store.write_multi(values, expires_in: seconds) if values.size > 1

            @store.write(*values.first, expires_in: seconds)
          end
        end

        # Entries of a rehearsal expire by the recorded times, see {#expire}.
        def lifetime(item)
          @stored_at[item] = @now if @now
          @now ? LONGEST : [item.ttl, LONGEST].compact.min
        end

        def expire(items)
          items.each do |item|
            at = item.ttl && @stored_at[item]
            @store.delete(item.name) if at && @now - at >= item.ttl && @stored_at.delete(item)
          end
        end
      end
    end
  end
end
