# frozen_string_literal: true

# `larder size`: whether a cache of another size would answer more reads.

require_relative "cache_command"

module Larder
  module CLI
    # `larder size`: estimates the hit ratio at other sizes of the file.
    class Size < CacheCommand
      # The name that users type.
      NAME = "size"
      # One line for `larder --help`.
      SUMMARY = "estimates the hit ratio at half, twice and four times the size"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder size [PATH] [--json]

        Estimates the part of reads that hit if the file of a cache had half, twice or
        four times the size. The application may run, and has to for an estimate: its
        processes keep the sample in memory.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{PATH_HELP}
        While the cache is full, a small part of the keys is also read and stored in
        simulated caches of the other sizes. Their misses are compared with those of a
        simulated cache of this size. "+- 2" means that the hit ratio is most likely
        within 2 points of the estimate. Keys that are deleted or expire make it less
        exact, as do values of very different sizes.

        Examples:
          larder size
          larder size --json | jq '.sizes[] | {size_bytes, hit_ratio, error}'
          larder resize 512MB      # change the size: replaces the file by an empty one

        Exit codes: 0 done, 1 the file is missing or cannot be used, 2 wrong usage.
      TEXT
      # Names of the sizes, by how many times the present one they are.
      TIMES = { 0.5 => "half the size", 2.0 => "twice the size", 4.0 => "four times the size" }.freeze
      # A change of the hit ratio that is worth another size, and one that is none.
      WORTH = 0.01
      MEBIBYTE = 1 << 20
      private_constant :BANNER, :FOOTER, :TIMES, :WORTH, :MEBIBYTE

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) { |options| options }
      end

      def act
        found, stats, keeps = visit { |cache| [cache.other_sizes, cache.stats, sessions?(cache)] }
        found[:sizes].reject! { |size| size[:size_bytes] < Cache::MIN_SIZE }
        return tell({ file: File.expand_path(path), fullness: stats[:fullness], **found }) if @json

        @out.puts("Cache #{path}", style: :bold)
        @out.puts("", *answer(found, stats, keeps))
        @out.puts("", *table(found), *needed(found)) if found[:sizes].any? { |size| size[:hit_ratio] }
        OK
      end

      def answer(found, stats, keeps)
        return roomy(stats) unless found[:evicts]
        return unknown(found) if found[:sizes].none? { |size| size[:hit_ratio] }

        larger(found, keeps) || smaller(found, keeps) || unchanged(found)
      end

      # The items need less than the file has: the rest is of values that were overwritten or deleted since.
      def roomy(stats)
        full = "The file is #{Words.percent(stats[:fullness])} full"
        evicted, stored = stats.values_at(:evictions, :sets)
        if evicted.zero?
          return ["Everything fits, and a larger file would not help: nothing was evicted.", "#{full}."]
        end

        ["A larger file would hardly help: the items need less than five eighths of this one.",
         "#{full}, also of values that were overwritten or deleted since.",
         "#{Words.count(evicted)} of #{Words.counted(stored, "stored item")} were evicted " \
         "(#{Words.percent(evicted.fdiv([stored, evicted].max))})."]
      end

      def unknown(found)
        reads = Words.counted(found[:sizes].sum { |size| size[:reads] }, "read")
        ["Too few reads yet to tell: #{reads} of the sample so far.",
         "The sample grows while the cache is full and the application has it open."]
      end

      # The smallest size that has clearly more hits.
      def larger(found, keeps)
        size = found[:sizes].find { |other| gain(found, other) >= [WORTH, other[:error] || 1].max }
        size && ["A larger file would help: #{compared(found, size)}", "", resize(size, keeps)]
      end

      def smaller(found, keeps)
        size = found[:sizes].find { |other| other[:size_bytes] < found[:size_bytes] && other[:hit_ratio] }
        return unless size && size[:error] - gain(found, size) < WORTH

        ["A smaller file would do: #{compared(found, size)}", "", resize(size, keeps)]
      end

      def unchanged(found)
        known = found[:sizes].select { |other| other[:size_bytes] > found[:size_bytes] && other[:hit_ratio] }
        return ["Too few reads yet to tell whether a larger file would help."] if known.empty?

        ["A larger file would hardly help: #{compared(found, known.last)}"]
      end

      # How many more reads hit; negative where there are fewer.
      def gain(found, size)
        size[:hit_ratio] ? size[:hit_ratio] - found[:hit_ratio] : -1
      end

      def compared(found, size)
        "#{TIMES.fetch(size[:size_bytes].fdiv(found[:size_bytes]).round(1))} would answer about " \
          "#{Words.percent(size[:hit_ratio])} of reads instead of #{Words.percent(found[:hit_ratio])}."
      end

      def resize(size, keeps)
        megabytes = size[:size_bytes].fdiv(MEBIBYTE).ceil
        keep = keeps ? " --keep" : " # replaces the cache by an empty one"
        "  larder resize #{Remedy.quoted(path)} #{megabytes}MB#{keep}"
      end

      def needed(found)
        bytes, largest = found[:needed_bytes], found[:sizes].last
        if bytes then ["", "With about #{Words.bytes(bytes)} nothing would have been evicted."]
        elsif largest[:hit_ratio]
          ["", "To evict nothing, the file would need more than #{Words.bytes(largest[:size_bytes])}."]
        else
          []
        end
      end

      # A line for each size, by size.
      def table(found)
        here = found.slice(:size_bytes, :hit_ratio)
        sizes = [here, *found[:sizes]].sort_by { |size| size[:size_bytes] }
        width = sizes.map { |size| Words.bytes(size[:size_bytes]).size }.max
        sizes.map { |size| "  #{Words.bytes(size[:size_bytes]).rjust(width)}   #{ratio(size)}".rstrip }
      end

      def ratio(size)
        return "too few reads yet to tell" unless size[:hit_ratio]

        within = size[:error] ? "+-#{[(size[:error] * 100).ceil, 1].max}" : ""
        "#{Words.percent(size[:hit_ratio]).rjust(5)} hits #{within.ljust(5)}#{Words.bar(size[:hit_ratio])}" \
          "#{"   now" unless size[:error]}"
      end
    end
  end
end
