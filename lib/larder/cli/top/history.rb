# frozen_string_literal: true

# The readings of the last minute, and what changed between them.

require_relative "../inspection"

module Larder
  module CLI
    class Top
      # One reading. `clock`: monotonic seconds; `now`: Time; `stats`: of {Cache#stats}; `statistics`: {Statistics}.
      Reading = Struct.new(:clock, :now, :stats, :pids, :statistics)
      # A keyspace and its counts in a number of seconds; `name`: nil for all others together.
      Row = Struct.new(:name, :counts, :seconds) do
        # @return [Hash{Symbol => Float}] per second
        def rates
          @rates ||= [:reads, :misses, :stored_bytes, :evictions].to_h do |name|
            [name, counts.public_send(name) / seconds]
          end
        end
      end

      # Readings, the last one at the end.
      class History
        # Seconds that are kept, and that changes of keyspaces need, because processes add counts once a second.
        KEPT = 60
        LEAST = 5
        MINUTE = 60
        private_constant :KEPT, :LEAST, :MINUTE

        def initialize
          @readings = []
        end

        # @param reading [Reading]
        # @return [void]
        def add(reading)
          @readings << reading
          @readings.shift while @readings.size > 2 && reading.clock - @readings[1].clock >= KEPT
        end

        # @return [Reading]
        def last
          @readings.last
        end

        # @return [Rates, nil] between the last two readings; nil: there is one only
        def rates
          before, after = @readings.last(2)
          Rates.between(before.stats, after.stats, after.clock - before.clock) if after
        end

        # @return [Array(String, Array<Row>)] which time, and what each keyspace did in it; the time is nil if it was
        #   too short and the minute before is not known
        def keyspaces
          before = @readings.find { |reading| reading.statistics.usage }
          after = last
          seconds = before ? after.clock - before.clock : 0
          return last_minute if seconds < LEAST || after.statistics.usage.nil?

          ["in the last #{seconds.round} seconds", changes(before.statistics.usage, after.statistics.usage, seconds)]
        end

        private

        # Until there are enough readings.
        def last_minute
          began = last.now.to_i - (last.now.to_i % MINUTE) - MINUTE
          bucket = last.statistics.usage&.minutes&.find { |minute| minute.began.to_i == began }
          return [nil, []] unless bucket

          ["in the minute #{Time.at(began).strftime("%H:%M")}",
           used([*bucket.keyspaces, [nil, bucket.rest]], MINUTE.to_f)]
        end

        # A keyspace that lost its row and got another one counts from zero.
        def changes(old, usage, seconds)
          before = old.keyspaces.to_h { |keyspace| [[keyspace.name, keyspace.since], keyspace.counts] }
          named = usage.keyspaces.map do |keyspace|
            former = before[[keyspace.name, keyspace.since]]
            [keyspace.name, former ? keyspace.counts - former : keyspace.counts]
          end
          used([*named, [nil, usage.rest - old.rest]], seconds)
        end

        def used(rows, seconds)
          rows.filter_map do |name, counts|
            Row.new(name, counts, seconds) if counts.reads.positive? || counts.stores.positive?
          end
        end
      end
    end
  end
end
