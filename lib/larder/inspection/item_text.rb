# frozen_string_literal: true

# Writes what is known about an item.

require_relative "values/input"
require_relative "words"

module Larder
  module Inspection
    # The facts of an item, in words.
    class ItemText
      # Words for the numbers of {Cache::Item#reads}.
      READS = ["not lately", "about once", "about once", "twice or more"].freeze
      SHORT_READS = ["-", "some", "some", "often"].freeze
      private_constant :READS, :SHORT_READS

      # @param version [String]
      # @return [String] as it is shown
      def self.version(version)
        KeyText.shown(version)
      end

      # @param item [Cache::Item]
      # @param now_ms [Integer]
      def initialize(item, now_ms)
        @item = item
        @now_ms = now_ms
      end

      # @return [String]
      def size
        @item.size < 1024 ? Words.counted(@item.size, "byte") : Words.bytes(@item.size)
      end

      # @return [String] a few characters: the time until it is stale
      def ttl
        seconds = @item.ttl(@now_ms)
        return "-" unless seconds

        seconds.positive? ? Words.brief(seconds) : "stale"
      end

      # @return [String] a few characters: the file notes ages of groups of items, so it is an upper bound
      def age
        "<= #{Words.brief(up(@item.age(@now_ms)))}"
      end

      # @return [String] a word
      def reads
        SHORT_READS.fetch(@item.reads)
      end

      # @param view [Values::View] of its value
      # @return [Array<Array(String, String)>] labels and texts
      def facts(view)
        [["size", size], ["expires", expiry],
         ["stored", "at most #{Words.span([@item.age(@now_ms), 1].max)} ago"],
         ["read", READS.fetch(@item.reads)],
         *([["tags", @item.tags.to_s]] if @item.tags.positive?),
         *([["pinned", "it is not evicted"]] if @item.pinned),
         *([["computed", "in #{Words.count(@item.compute_ms)} ms"]] if @item.compute_ms),
         *([["version", Values::Input.literal(self.class.version(view.version))]] if view.version),
         ["encoding", view.encoding.join(", ")]]
      end

      # @return [Boolean]
      def stale?
        @item.ttl(@now_ms)&.zero? || false
      end

      # @return [Float, nil] seconds that it is kept, stale or not; nil: until it is evicted
      def kept
        @item.kept_until_ms && [@item.kept_until_ms - @now_ms, 0].max / 1000.0
      end

      private

      def expiry
        seconds = @item.ttl(@now_ms)
        return "never" unless seconds
        return "in #{Words.span([seconds, 1].max)}" if seconds.positive?

        ["it is stale", *("and kept for #{Words.span(kept)} more" if kept&.positive?),
         *("a process computes the next value" if @item.leased)].join(", ")
      end

      # To a whole unit of {Words.brief}.
      def up(seconds)
        unit = [86_400 * 2, 60, 1].find { |least| seconds >= least } || 1
        unit = 86_400 if unit > 60
        (seconds / unit).ceil * unit
      end
    end
  end
end
