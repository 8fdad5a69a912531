# frozen_string_literal: true

# `larder stat --by minute|hour`: the cache or one keyspace over time.

require_relative "../columns"
require_relative "../inspection"

module Larder
  module CLI
    class Stat
      # A row for each minute of the last hour, or for each hour of the last two days.
      class Timeline
        # `length` of a row and `reach` of all, in seconds; `format` of times. Hours are those of UTC: in India they
        # begin at half past.
        Unit = Struct.new(:length, :reach, :format)
        UNITS = { "minute" => Unit.new(60, 3600, "%H:%M"), "hour" => Unit.new(3600, 172_800, "%-d %b %H:%M") }.freeze
        # Keyspaces that a bucket has counts of. In one with fewer, a keyspace that is missing was not used.
        IN_BUCKET = 16
        BAR = 10
        # `counts`: nil where they are not known.
        Row = Struct.new(:began, :counts, :most_misses)
        private_constant :Unit, :UNITS, :IN_BUCKET, :BAR, :Row

        # @param usage [Usage]
        # @param by [String] "minute" or "hour"
        # @param keyspace [String, nil] nil: the whole cache
        # @param now [Time]
        # @raise [Failure] there is no such keyspace
        def initialize(usage, by:, keyspace: nil, now: Time.now)
          @usage = usage
          @by = by
          @unit = UNITS.fetch(by)
          @keyspace = keyspace && known(keyspace)
          @rows = rows(now)
        end

        # @param width [Integer] columns
        # @return [Array<String>]
        def lines(width)
          title = @keyspace ? "Keyspace #{KeyText.shown(@keyspace)} by #{@by}" : "All keyspaces by #{@by}"
          return [title, "", "  Nothing was counted in that time."] if @rows.empty?

          [title, "", *(@keyspace ? of_keyspace : of_whole).lines(width), "", "  The last row is not complete.",
           *("  -: not among the 16 keyspaces with most traffic at that time" if @rows.any? { |row| row.counts.nil? })]
        end

        # @return [Hash] for machines
        def to_h
          { by: @by, keyspace: (KeyText.shown(@keyspace) if @keyspace),
            rows: @rows.map do |row|
              { began: Statistics.time(row.began), counts: (Statistics.figures(row.counts) if row.counts),
                **(@keyspace ? {} : { most_misses: most_of(row) }) }
            end }
        end

        private

        def known(name)
          names = @usage.keyspaces.map(&:name)
          found = names.find { |each| each == name || KeyText.shown(each) == name }
          return found if found

          of_key = @usage.keyspace_of(name)
          hint = "keys #{name} are in the keyspace #{of_key}" if of_key != name && names.include?(of_key)
          largest = names.first(5).map { |each| KeyText.shown(each) }.join(", ")
          hint ||= names.empty? ? "none is counted yet" : "the largest are #{largest}"
          raise Failure, "there are no counts of a keyspace #{KeyText.shown(KeyText.bytes(name))}: #{hint}"
        end

        # Times in which nothing was counted have rows too, from the first time that has counts.
        def rows(now)
          last = Time.at(now.to_i - (now.to_i % @unit.length))
          from = last - @unit.reach + @unit.length
          buckets = (@by == "minute" ? @usage.minutes : @usage.hours).to_h { |bucket| [bucket.began.to_i, bucket] }
          first = buckets.keys.select { |began| began.between?(from.to_i, last.to_i) }.min
          return [] unless first

          (first..last.to_i).step(@unit.length).map { |began| row(Time.at(began), buckets[began]) }
        end

        def row(began, bucket)
          return Row.new(began, Usage::Counts.none) unless bucket
          return Row.new(began, counts_in(bucket)) if @keyspace

          Row.new(began, bucket.whole, most_misses(bucket))
        end

        def counts_in(bucket)
          bucket.keyspaces.fetch(@keyspace) { Usage::Counts.none if bucket.keyspaces.size < IN_BUCKET }
        end

        def most_of(row)
          name, counts = row.most_misses
          { name: KeyText.shown(name), misses: counts.misses } if counts
        end

        # @return [Array(String, Usage::Counts), nil] nil: there was no miss
        def most_misses(bucket)
          most = bucket.keyspaces.merge("(others)" => bucket.rest).max_by { |_, counts| counts.misses }
          most if most.last.misses.positive?
        end

        def of_whole
          common.add("stored", each { |counts| Brief.count(counts.stores) })
                .add("evicted", each { |counts| Brief.count(counts.evictions) })
                .text("most misses", @rows.map { |row| row.most_misses && culprit(*row.most_misses, row.counts) })
        end

        def of_keyspace
          common.add("stored", each { |counts| Brief.count(counts.stores) })
                .add("evicted", each { |counts| Brief.count(counts.evictions) })
                .add("after", each { |counts| Brief.span(counts.mean_evicted_age) })
                .add("computing", each { |counts| Brief.span(counts.mean_compute) })
        end

        def common
          Columns.new("time", @rows.map { |row| row.began.getlocal.strftime(@unit.format) })
                 .add("reads", each { |counts| Brief.count(counts.reads) })
                 .add("", each { |counts| Brief.error(counts.reads_error, counts.reads) }, gap: 1)
                 .add("hits", @rows.map { |row| ratio(row.counts) })
        end

        def ratio(counts)
          return "-" unless counts
          return if counts.hit_ratio.nil?

          "#{Words.percent(counts.hit_ratio).rjust(5)} #{Brief.bar(counts.hit_ratio, BAR)}"
        end

        def culprit(name, counts, whole)
          share = counts.misses.fdiv([whole.misses, counts.misses].max) # a sample may have more than there were
          "#{Words.percent(share).rjust(5)} #{KeyText.shown(name)}"
        end

        def each(&block)
          @rows.map { |row| block.call(row.counts) if row.counts }
        end
      end
    end
  end
end
