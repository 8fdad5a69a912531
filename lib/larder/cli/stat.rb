# frozen_string_literal: true

# `larder stat`: the statistics of a cache.

require_relative "cache_command"

module Larder
  module CLI
    # `larder stat`: how full a cache is, and how well it does.
    class Stat < CacheCommand
      # What users type.
      NAME = "stat"
      # One line for `larder --help`.
      SUMMARY = "shows fullness, hit ratio and the processes of a cache"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder stat [PATH] [--json]

        Shows how full a cache is, how many reads hit, and which processes have it
        open. The application may run.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{PATH_HELP}
        Reads, stores, evictions and expirations are counted for all processes since
        the file was created. An eviction removes an item that has not expired. If there
        are many evictions and few hits, larder size tells which larger file helps.

        Examples:
          larder stat
          larder stat --json | jq .hit_ratio
          watch larder stat

        Exit codes: 0 done, 1 the file is missing or cannot be used, 2 wrong usage.
      TEXT
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
      private_constant :BANNER, :FOOTER, :RARE

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) { |options| options }
      end

      def act
        stats, pids = visit { |cache| [cache.stats, cache.pids - [Process.pid]] }
        stats[:processes] = pids.size # but for this one
        return tell({ file: File.expand_path(path), **stats, pids: pids }) if @json

        @out.puts("Cache #{path}", style: :bold)
        @out.puts("", *table(stats, pids))
        OK
      end

      def table(stats, pids)
        counts = stats.slice(:items, :sets, :evictions, :expirations).transform_values { |number| Words.count(number) }
        counts[:reads] = Words.count(stats[:hits] + stats[:misses])
        width = [*counts.values.map(&:size), 7].max
        line = ->(label, text, more = nil) { "  #{label.ljust(12)}#{text.to_s.rjust(width)}#{more}".rstrip }
        [line["size", Words.bytes(stats[:size_bytes])],
         line["full", Words.percent(stats[:fullness]), "   #{Words.bar(stats[:fullness])}"],
         line["items", counts[:items], ("   the oldest: #{Words.span(stats[:oldest_age])}" if stats[:oldest_age])],
         "",
         line["reads", counts[:reads], ("   #{Words.percent(stats[:hit_ratio])} hits" if stats[:hit_ratio])],
         line["stored", counts[:sets]],
         line["evicted", counts[:evictions]],
         line["expired", counts[:expirations]],
         *rare(stats, line),
         *trouble(stats, line),
         "",
         line["processes", pids.size, ("   #{shown(pids)}" if pids.any?)],
         *("  Counts of other containers' processes are up to #{Words.span(stats[:counts_age])} old." if old?(stats))]
      end

      # Counts of a process that shares memory with this one are up to date.
      def old?(stats)
        stats[:counts_age] >= 1
      end

      def rare(stats, line)
        RARE.filter_map do |key, (label, meaning)|
          line[label, Words.count(stats[key]), "   #{meaning}"] if stats[key].positive?
        end
      end

      # What a sound machine has none of.
      def trouble(stats, line)
        { refused: "refused", damaged: "damaged", resets: "emptied" }.filter_map do |key, label|
          line[label, Words.count(stats[key])] if stats[key].positive?
        end
      end

      def shown(pids)
        pids.size > 8 ? "#{pids.sort.first(8).join(", ")}, ..." : pids.sort.join(", ")
      end
    end
  end
end
