# frozen_string_literal: true

# `larder size`: whether a cache of another size would answer more reads.

require_relative "cache_command"
require_relative "inspection"

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
        simulated cache of this size. "+-2" means that the hit ratio is most likely
        within 2 points of the estimate. Keys that are deleted or expire make it less
        exact, as do values of very different sizes.

        Examples:
          larder size
          larder size --json | jq '.sizes[] | {size_bytes, hit_ratio, error}'
          larder resize 512MB      # change the size: replaces the file by an empty one

        Exit codes: 0 done, 1 the file is missing or cannot be used, 2 wrong usage.
      TEXT
      private_constant :BANNER, :FOOTER

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) { |options| options }
      end

      def act
        found, stats, keeps = visit { |cache| [cache.other_sizes, cache.stats, sessions?(cache)] }
        advice = SizeAdvice.new(found, stats)
        return tell({ file: File.absolute_path(path), fullness: stats[:fullness], **advice.figures }) if @json

        @out.puts("Cache #{path}", style: :bold)
        @out.puts("", *advice.sentences, *resize(advice, keeps))
        @out.puts("", *table(advice), *(["", advice.needed] if advice.needed)) if advice.known?
        OK
      end

      def resize(advice, keeps)
        return [] unless advice.megabytes

        keep = keeps ? " --keep" : " # replaces the cache by an empty one"
        ["", "  larder resize #{Remedy.quoted(path)} #{advice.megabytes}MB#{keep}"]
      end

      # A line for each size, by size.
      def table(advice)
        width = advice.sizes.map { |size| Words.bytes(size[:size_bytes]).size }.max
        advice.sizes.map { |size| "  #{Words.bytes(size[:size_bytes]).rjust(width)}   #{ratio(size)}".rstrip }
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
