# frozen_string_literal: true

# Keeps the first items of an order.

require_relative "errors"

module Larder
  module Inspection
    # The first N of the items that it is given, in the order of their ranks. It holds 2 * N at most.
    class Order
      # The rank of an item; the least is first. Names are those of `--sort`.
      RANKS = {
        "size" => ->(item, _now_ms) { -item.size },
        "ttl" => ->(item, now_ms) { item.ttl(now_ms) || Float::INFINITY },
        "age" => ->(item, _now_ms) { item.stored_after_ms },
        "reads" => ->(item, _now_ms) { -item.reads }
      }.freeze

      # @param name [String] of RANKS
      # @param limit [Integer]
      # @param now_ms [Integer]
      # @raise [Invalid] names those that there are
      def initialize(name, limit, now_ms)
        @rank = RANKS.fetch(name)
        @limit = limit
        @now_ms = now_ms
        @held = {}
        @last = nil
      end

      # @param name [String]
      # @return [String] the same
      # @raise [Invalid] names those that there are
      def self.check(name)
        return name if RANKS.key?(name)

        raise Invalid, "cannot sort by #{name}; known: #{RANKS.keys.join(", ")}"
      end

      # @param item [Cache::Item]
      # @return [void]
      def <<(item)
        rank = [@rank.call(item, @now_ms), item.key]
        return if @last && (rank <=> @last) == 1

        @held[item.key] = [rank, item] # a walk may show a key twice
        shorten if @held.size >= 2 * @limit
      end

      # @return [Array<Cache::Item>]
      def first
        shorten
        @held.each_value.map(&:last)
      end

      private

      def shorten
        kept = @held.each_value.sort_by(&:first).first(@limit)
        @last = kept.last.first if kept.size == @limit
        @held = kept.to_h { |entry| [entry.last.key, entry] }
      end
    end
  end
end
