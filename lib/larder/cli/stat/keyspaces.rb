# frozen_string_literal: true

# The table of keyspaces of `larder stat`.

require_relative "../columns"
require_relative "../inspection"

module Larder
  module CLI
    class Stat
      # The keyspaces with most traffic, and all others together, within a time.
      class Keyspaces
        # Rows of a table.
        MOST = 10
        BAR = 8
        # A keyspace, and all without a row of their own.
        Row = Struct.new(:name, :counts)
        OTHERS = "(others)"
        private_constant :MOST, :BAR, :Row, :OTHERS

        # @param usage [Usage]
        # @param hour [Usage::Bucket] the last hour; if nothing was counted in it, the table is of all time
        # @return [Keyspaces]
        def self.of(usage, hour)
          return new("in the last hour", hour.keyspaces, hour.rest) if hour.keyspaces.any?

          new("since #{usage.since.strftime("%-d %b %H:%M")}; none was used in the last hour",
              usage.keyspaces.to_h { |keyspace| [keyspace.name, keyspace.counts] }, usage.rest)
        end

        # @param time [String] when
        # @param named [Hash{String=>Usage::Counts}]
        # @param rest [Usage::Counts]
        def initialize(time, named, rest)
          @time = time
          sorted = named.sort_by { |name, counts| [-counts.reads - counts.stores, name] }
          @rows = sorted.first(MOST).map { |name, counts| Row.new(KeyText.shown(name), counts) }
          others = sorted.drop(MOST).sum(rest) { |_, counts| counts }
          @rows << Row.new(OTHERS, others) if others.reads.positive? || others.stores.positive?
        end

        # @param width [Integer] columns
        # @return [Array<String>]
        def lines(width)
          return ["No keyspace was used yet."] if @rows.empty?

          ["Keyspaces #{@time}", *table.lines(width), *errors(width)]
        end

        private

        # A sample's errors, where there are any.
        def errors(width)
          return [] if @rows.all? { |row| (row.counts.read_variance + row.counts.store_variance).zero? }

          more = "; of stored and evicted: in #{table.least_width} columns" if width < table.least_width
          ["", "  ±: error of the share in 19 of 20 cases#{more}"]
        end

        def table
          reads = @rows.sum { |row| row.counts.reads }
          Columns.new("keyspace", @rows.map(&:name))
                 .add("share of reads", each { |counts| share(counts, reads) })
                 .add("", each { |counts| Brief.error(counts.reads_error, counts.reads) }, gap: 1)
                 .add("hits", each { |counts| counts.hit_ratio && Words.percent(counts.hit_ratio) })
                 .add("stored", each { |counts| Brief.bytes(counts.stored_bytes) if counts.stores.positive? })
                 .add("", each { |counts| Brief.error(counts.stores_error, counts.stores) }, gap: 1, extra: 2)
                 .add("evicted", each { |counts| Brief.count(counts.evictions) })
                 .add("", each { |counts| Brief.error(counts.evictions_error, counts.evictions) }, gap: 1, extra: 1)
                 .add("after", each { |counts| Brief.span(counts.mean_evicted_age) })
                 .add("computing", each { |counts| Brief.span(counts.mean_compute) })
        end

        def share(counts, reads)
          return unless reads.positive?

          part = counts.reads.fdiv(reads)
          "#{Brief.bar(part, BAR)} #{Words.percent(part).rjust(5)}"
        end

        def each(&block)
          @rows.map { |row| block.call(row.counts) }
        end
      end
    end
  end
end
