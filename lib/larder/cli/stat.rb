# frozen_string_literal: true

# Owns `larder stat`: the figures of a cache.

require_relative "cache_command"

module Larder
  module CLI
    # `larder stat`: how full a cache is, and how well it does.
    class Stat < CacheCommand
      # What users type.
      NAME = "stat"
      # One line for `larder --help`.
      SUMMARY = "how full a cache is, how many reads hit, who has it open"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder stat [PATH] [--json]

        How full a cache is, how many reads find something, and who has it open. The
        application may run meanwhile.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{PATH_HELP}
        What was read, stored, evicted and expired is counted since the file was
        made, for all processes together. Evicted is what had to leave though it had not
        expired: where that goes with few hits, a larger file helps (larder resize).

        Examples:
          larder stat
          larder stat --json | jq .hit_ratio
          watch larder stat

        Exit codes: 0 done, 1 no such file or none that can be used, 2 wrong usage.
      TEXT
      private_constant :BANNER, :FOOTER

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
         *trouble(stats, line),
         "",
         line["processes", pids.size, ("   #{shown(pids)}" if pids.any?)]]
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
