# frozen_string_literal: true

# `larder stat`: the statistics of a cache.

require_relative "cache_command"
require_relative "interval"
require_relative "inspection"

module Larder
  module CLI
    # `larder stat`: how full a cache is, how well it does, and which keys fill it.
    class Stat < CacheCommand
      # The name that users type.
      NAME = "stat"
      # One line for `larder --help`.
      SUMMARY = "shows fullness, hit ratio, keyspaces and processes of a cache"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder stat [PATH] [--json]
               larder stat [PATH] --interval TIME [--count N] [--json]
               larder stat [PATH] --by minute|hour [--keyspace NAME] [--json]
               larder stat [PATH] --top-keys [--json]

        Shows how many reads hit, how full a cache is, which keyspaces are read, and
        which processes have it open. The application may run.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{PATH_HELP}
        A keyspace is the part of keys before the first "/" or ":", or the template of a
        fragment. Counts of keyspaces, hours and days are in PATH.stats, which a store
        keeps unless it has statistics: false. Counts of the whole cache are exact.
        Those of keyspaces come from a sample if there are many calls: "±3 %" is the
        error in 19 of 20 cases. Computing is the time from a miss to the store of the
        same key by the same process; evicted after is the mean age of evicted items.

        An eviction removes an item that has not expired. If there are many evictions
        and few hits, larder size tells which larger file helps.

        Examples:
          larder stat
          larder stat --interval 1s
          larder stat --by minute
          larder stat --by hour --keyspace views/products/_row
          larder stat --json | jq .statistics.last_hour.hit_ratio

        Fields of --json; durations are seconds, moments ISO 8601 in UTC, ratios 0 to 1,
        unknown values null:
          file, pids, and those of Larder::Cache#stats
          statistics            since, changed, last_hour, last_day (counts),
                                saved_last_day, keyspaces, other_keyspaces (counts)
          statistics.keyspaces  name, since, total, last_hour (counts)
          statistics_problem    why statistics is null
          counts                hits, misses, reads, reads_error, hit_ratio,
                                stale_hits, stores, stores_error, stored_bytes,
                                evictions, evictions_error, mean_evicted_age, waits,
                                computes, mean_compute, failures (0 in keyspaces)
        with --by: file, by, keyspace, rows: began, counts (null: not known),
                   most_misses (name, misses)
        with --top-keys: file, hot and heavy: key, key_bytes, weight (recent reads, or
                   bytes), error, seen, value_bytes
        with --interval, a line each time: time, seconds, hits_per_second,
                   misses_per_second, hit_ratio, stores_per_second,
                   evictions_per_second, items, fullness

        Exit codes: 0 done, 1 the file is missing or cannot be used, 2 wrong usage.
      TEXT
      UNITS = ["minute", "hour"].freeze
      private_constant :BANNER, :FOOTER, :UNITS

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) do |options|
          options.on("--interval TIME", "a line each TIME (500ms, 1s, 5m) with rates") { |text| @interval = text }
          options.on("--count N", "end after N lines of --interval") { |text| @count = positive(text) }
          options.on("--by UNIT", "a row for each minute of the last hour, or hour of",
                     "the last two days") { |text| @by = unit(text) }
          options.on("--keyspace NAME", "one keyspace over time, by minute or --by hour") { |name| @keyspace = name }
          options.on("--top-keys", "the most read and the largest keys, of a sample") { @top_keys = true }
        end
      end

      def positive(text)
        return text.to_i if text.match?(/\A[1-9]\d{0,8}\z/)

        raise UsageError, "--count #{text} must be a number of lines, 1 or more"
      end

      def unit(text)
        UNITS.include?(text) ? text : raise(UsageError, "--by #{text} is unknown; known: #{UNITS.join(", ")}")
      end

      def understood
        views = { "--interval" => @interval, "--top-keys" => @top_keys, "--by" => @by, "--keyspace" => @keyspace }
        given = views.compact.keys
        raise UsageError, "choose one of #{given.join(" and ")}" unless given.size < 2 || given == %w[--by --keyspace]
        raise UsageError, "--count needs --interval" if @count && @interval.nil?

        @interval &&= Interval.new(@interval)
      end

      def act
        return live if @interval
        return over_time if @by || @keyspace
        return top_keys if @top_keys

        stats, pids = visit { |cache| [cache.stats, WatchedFile.others(cache)] }
        stats[:processes] = pids.size # but for this one
        show(Overview.new(stats, pids, Statistics.of(path)), { file: file, **stats, pids: pids })
      end

      def live
        there
        WatchedFile.open(path) { |file| Live.new(file, json: @json).run(@out, @interval, @count) }
        OK
      rescue Interrupt
        OK
      end

      def over_time
        show(Timeline.new(statistics, by: @by || UNITS.first, keyspace: @keyspace), { file: file })
      end

      def top_keys
        show(TopKeys.new(statistics), { file: file })
      end

      # @return [Usage]
      # @raise [Failure] there are none
      def statistics
        there
        read = Statistics.of(path)
        read.usage || raise(Failure, "no statistics of #{path}: #{read.problem}")
      end

      # @param view [Overview, Timeline, TopKeys]
      # @param machines [Hash] what --json prints first
      def show(view, machines)
        return tell({ **machines, **view.to_h }) if @json

        @out.puts("Cache #{path}", style: :bold)
        @out.puts("", *view.lines(@out.width))
        OK
      end

      def file
        File.absolute_path(path)
      end
    end
  end
end

require_relative "stat/live"
require_relative "stat/overview"
require_relative "stat/timeline"
require_relative "stat/top_keys"
