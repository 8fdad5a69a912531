# frozen_string_literal: true

# `larder stat` without a view: hits, fullness, keyspaces, processes.

require_relative "../inspection"
require_relative "keyspaces"

module Larder
  module CLI
    class Stat
      # The figures of a cache on one page.
      class Overview
        HOUR = 3600
        DAY = 86_400
        # Columns of labels.
        LABELS = 12
        # Counts that only some caches have, with label and meaning.
        RARE = {
          stale_hits: ["stale", "reads that an expired value answered"],
          leases: ["leased", "computed by one caller for all"],
          waits: ["waited", "for a value that another caller computed"],
          refreshes: ["refreshed", "computed again while an old value was served"],
          lone_computes: ["alone", "computed by a caller for itself, as another did it too"],
          lost_leases: ["outdated", "not stored: the key was deleted or written before"],
          tag_deletes: ["tags", "deleted, each with all its items"],
          forgotten_misses: ["forgotten", "items gone with a tag that they may not have: too many deletions"]
        }.freeze
        private_constant :HOUR, :DAY, :LABELS, :RARE

        # @param stats [Hash] of {Cache#stats}
        # @param pids [Array<Integer>] that have the cache open
        # @param statistics [Statistics]
        # @param now [Time]
        def initialize(stats, pids, statistics, now: Time.now)
          @stats = stats
          @pids = pids
          @usage = statistics.usage
          @problem = statistics.problem
          @hour, @day = [HOUR, DAY].map { |seconds| @usage.last(seconds, now: now) } if @usage
        end

        # @param width [Integer] columns
        # @return [Array<String>]
        def lines(width)
          [*hits, *saved, "", *table, *processes, "", *keyspaces(width)]
        end

        # @return [Hash] for machines
        def to_h
          { statistics: (figures if @usage), statistics_problem: @problem }
        end

        private

        def figures
          { since: Statistics.time(@usage.since), changed: Statistics.time(@usage.changed),
            last_hour: Statistics.figures(@hour.whole), last_day: Statistics.figures(@day.whole),
            saved_last_day: @day.saved,
            keyspaces: @usage.keyspaces.map do |keyspace|
              counts = @hour.keyspaces[keyspace.name]
              { name: KeyText.shown(keyspace.name), since: Statistics.time(keyspace.since),
                total: Statistics.figures(keyspace.counts), last_hour: (Statistics.figures(counts) if counts) }
            end,
            other_keyspaces: Statistics.figures(@usage.rest) }
        end

        def hits
          times = [[@hour&.whole, "in the last hour"], [@day&.whole, "in the last day"]]
          rows = times.filter_map { |counts, time| [counts.hit_ratio, counts.reads, time] if counts }
          rows << [@stats[:hit_ratio], @stats[:hits] + @stats[:misses], "since the file was made"]
          width = rows.map { |_, reads, _| Words.count(reads).size }.max
          rows.each_with_index.map do |(ratio, reads, time), row|
            line(row.zero? ? "hits" : "", ratio ? Words.percent(ratio) : "-",
                 "of #{Words.count(reads).rjust(width)} reads #{time}")
          end
        end

        def saved
          seconds = @day ? @day.saved : 0
          seconds < 1 ? [] : ["  #{"saved".ljust(LABELS)}about #{Words.span(seconds)} of computing in the last day"]
        end

        def table
          [line("full", Words.percent(@stats[:fullness]),
                "#{Words.bar(@stats[:fullness])} of #{Words.bytes(@stats[:size_bytes])}"),
           line("items", Words.count(@stats[:items]),
                ("the oldest: #{Words.span(@stats[:oldest_age])}" if @stats[:oldest_age])),
           line("stored", Words.count(@stats[:sets])),
           line("evicted", Words.count(@stats[:evictions])),
           line("expired", Words.count(@stats[:expirations])),
           *rare,
           *trouble,
           *failed]
        end

        def rare
          RARE.filter_map do |key, (label, meaning)|
            line(label, Words.count(@stats[key]), meaning) if @stats[key].positive?
          end
        end

        # Counts that are 0 on a sound machine.
        def trouble
          { refused: "refused", damaged: "damaged", resets: "emptied" }.filter_map do |key, label|
            line(label, Words.count(@stats[key])) if @stats[key].positive?
          end
        end

        def failed
          failures = @day ? @day.whole.failures : 0
          failures.zero? ? [] : [line("failed", Words.count(failures), "calls in the last day: the log says why")]
        end

        # Counts of a process that shares memory with this one are up to date.
        def processes
          age = @stats[:counts_age]
          [line("processes", Words.count(@pids.size), (shown_pids if @pids.any?)),
           *("  Counts of other containers' processes are up to #{Words.span(age)} old." if age >= 1)]
        end

        def shown_pids
          @pids.size > 8 ? "#{@pids.sort.first(8).join(", ")}, ..." : @pids.sort.join(", ")
        end

        def keyspaces(width)
          return ["No statistics by keyspace and time:", "  #{@problem}"] unless @usage

          Keyspaces.of(@usage, @hour).lines(width)
        end

        def line(label, text, more = nil)
          "  #{label.ljust(LABELS)}#{text.rjust(figure_width)}#{"   #{more}" if more}".rstrip
        end

        def figure_width
          @figure_width ||= [*@stats.values_at(:items, :sets, :evictions, :expirations, *RARE.keys)
                                    .map { |number| Words.count(number).size }, 7].max
        end
      end
    end
  end
end
