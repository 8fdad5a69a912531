# frozen_string_literal: true

# The table of keyspaces of `larder stat`.

require_relative "../columns"
require_relative "../inspection"

module Larder
  module CLI
    class Stat
      # The keyspaces with most traffic, and all others together, within a time.
      class Keyspaces
        BAR = 8
        private_constant :BAR

        # @param usage [Usage]
        # @param hour [Usage::Bucket] the last hour
        # @return [Keyspaces]
        def self.of(usage, hour)
          new(UsedKeyspaces.of(usage, hour))
        end

        # @param used [UsedKeyspaces]
        def initialize(used)
          @used = used
          @rows = used.rows
        end

        # @param width [Integer] columns
        # @return [Array<String>]
        def lines(width)
          return ["No keyspace was used yet."] if @rows.empty?

          ["Keyspaces #{@used.time}", *table.lines(width), *errors(width)]
        end

        private

        # A sample's errors, where there are any.
        def errors(width)
          return [] unless @used.sampled?

          more = "; of stored and evicted: in #{table.least_width} columns" if width < table.least_width
          ["", "  ±: error of the share in 19 of 20 cases#{more}"]
        end

        def table
          Columns.new("keyspace", @rows.map(&:shown))
                 .add("share of reads", each { |counts| share(counts) })
                 .add("", each { |counts| Brief.error(counts.reads_error, counts.reads) }, gap: 1)
                 .add("hits", each { |counts| counts.hit_ratio && Words.percent(counts.hit_ratio) })
                 .add("stored", each { |counts| Brief.bytes(counts.stored_bytes) if counts.stores.positive? })
                 .add("", each { |counts| Brief.error(counts.stores_error, counts.stores) }, gap: 1, extra: 2)
                 .add("evicted", each { |counts| Brief.count(counts.evictions) })
                 .add("", each { |counts| Brief.error(counts.evictions_error, counts.evictions) }, gap: 1, extra: 1)
                 .add("after", each { |counts| Brief.span(counts.mean_evicted_age) })
                 .add("computing", each { |counts| Brief.span(counts.mean_compute) })
        end

        def share(counts)
          part = @used.share(counts)
          part && "#{Brief.bar(part, BAR)} #{Words.percent(part).rjust(5)}"
        end

        def each(&block)
          @rows.map { |row| block.call(row.counts) }
        end
      end
    end
  end
end
