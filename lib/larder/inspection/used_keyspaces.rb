# frozen_string_literal: true

# The keyspaces with most traffic within a time.

require_relative "../bytes/usage"
require_relative "key_text"

module Larder
  module Inspection
    # Rows of a table, those with most traffic first, and one for all others.
    class UsedKeyspaces
      # Rows of a table, without that of the others.
      MOST = 10
      # `name`: as {Usage::Keyspace} has it, nil: all without a row; `counts`: {Usage::Counts}.
      Row = Struct.new(:name, :counts) do
        # @return [String]
        def shown
          name ? KeyText.shown(name) : OTHERS
        end
      end
      # The name of all without a row.
      OTHERS = "(others)"
      private_constant :Row

      # @param usage [Usage]
      # @param hour [Usage::Bucket] the last hour; if nothing was counted in it, the rows are of all time
      # @return [UsedKeyspaces]
      def self.of(usage, hour)
        return new("in the last hour", hour.keyspaces, hour.rest) if hour.keyspaces.any?

        new("since #{usage.since.strftime("%-d %b %H:%M")}; none was used in the last hour",
            usage.keyspaces.to_h { |keyspace| [keyspace.name, keyspace.counts] }, usage.rest)
      end

      # @return [String] when
      attr_reader :time
      # @return [Array<Row>]
      attr_reader :rows

      # @param time [String] when
      # @param named [Hash{String=>Usage::Counts}]
      # @param rest [Usage::Counts]
      def initialize(time, named, rest)
        @time = time
        sorted = named.sort_by { |name, counts| [-counts.reads - counts.stores, name] }
        @rows = sorted.first(MOST).map { |name, counts| Row.new(name, counts) }
        others = sorted.drop(MOST).sum(rest) { |_, counts| counts }
        @rows << Row.new(nil, others) if others.reads.positive? || others.stores.positive?
      end

      # @return [Boolean] are counts those of a sample?
      def sampled?
        rows.any? { |row| (row.counts.read_variance + row.counts.store_variance).positive? }
      end

      # @param counts [Usage::Counts] of a row
      # @return [Float, nil] its share of all reads, 0.0 to 1.0; nil: nothing was read
      def share(counts)
        @reads ||= rows.sum { |row| row.counts.reads }
        counts.reads.fdiv(@reads) if @reads.positive?
      end
    end
  end
end
