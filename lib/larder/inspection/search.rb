# frozen_string_literal: true

# Looks for keys for a limited time, and goes on later.

require_relative "../bytes/monotonic_clock"
require_relative "errors"
require_relative "order"
require_relative "pattern"

module Larder
  module Inspection
    # A part of a walk over the keys of a cache. Its time does not grow with the number of keys.
    class Search
      include MonotonicClock

      # Seconds after which it stops. A step of the walk takes some milliseconds more.
      BUDGET = 0.2
      START = "0"
      POSITION = /\A(\d{1,20})(?:-(\d{1,5}))?\z/
      # `items` that match; `position`: a text to go on from, nil: all keys were looked at; `from` and `to`: which part
      # of the keys was before this search and after it, 0.0 to 1.0.
      Result = Struct.new(:items, :position, :from, :to)
      private_constant :POSITION, :Result

      # @param cache [Cache]
      # @param pattern [Pattern]
      # @param limit [Integer] items
      # @param sort [String, nil] of {Order}: the first items of the part that is looked at; nil: the search also stops
      #   when it has found as many as it may
      # @param budget [Numeric] seconds
      # @yieldparam key [String] that matches the pattern
      # @yieldreturn [Boolean] is it one? Without a block all are
      def initialize(cache, pattern, limit:, sort: nil, budget: BUDGET, &also)
        @cache = cache
        @pattern = pattern
        @limit = limit
        @sort = sort && Order.check(sort)
        @budget = budget
        @also = also
      end

      # @param position [String] START, or that of an earlier result
      # @return [Result]
      # @raise [Invalid] it is not a position
      def from(position)
        cursor, skipped = parsed(position)
        began = @cache.progress(cursor)
        found, deadline = nothing, monotonic_now + @budget
        loop do
          all, following = step(cursor)
          looked_at = skipped + take(all.drop(skipped), found)
          return within(found, began, [cursor, following], [looked_at, all.size]) if looked_at < all.size

          cursor, skipped = following, 0
          break if cursor.nil? || full?(found) || monotonic_now >= deadline
        end
        result(found, began, cursor&.to_s, cursor ? @cache.progress(cursor) : 1.0)
      end

      private

      def parsed(position)
        match = POSITION.match(position.b)
        cursor = match && Integer(match[1], 10)
        return [cursor, match[2].to_i] if cursor && cursor < 2**64

        raise Invalid, "#{KeyText.shown(position.byteslice(0, 40))} must be a position of a search"
      end

      def nothing
        @sort ? Order.new(@sort, @limit, (Time.now.to_f * 1000).to_i) : []
      end

      # Items where all of them are wanted; keys where the most are not.
      def step(cursor)
        prefix = @pattern.prefix
        selective? ? @cache.keys_from(cursor, prefix: prefix) : @cache.items_from(cursor, prefix: prefix)
      end

      def selective?
        @also || !@pattern.beginning?
      end

      # @param all [Array<String>, Array<Cache::Item>]
      # @return [Integer] how many of them were looked at
      def take(all, found)
        all.each_with_index do |one, index|
          item = selective? ? matching(one) : one
          next unless item

          found << item
          return index + 1 if full?(found)
        end
        all.size
      end

      def matching(key)
        @cache.item(key) if @pattern.match?(key) && (@also.nil? || @also.call(key))
      end

      # A sorted search may find better ones in all keys.
      def full?(found)
        @sort.nil? && found.size >= @limit
      end

      # It ended within a step.
      def within(found, began, cursors, numbers)
        before, after = cursors.map { |cursor| cursor ? @cache.progress(cursor) : 1.0 }
        result(found, began, "#{cursors.first}-#{numbers.first}", before + ((after - before) * numbers.inject(:fdiv)))
      end

      def result(found, began, position, ended)
        Result.new(@sort ? found.first : found, position, began, ended)
      end
    end
  end
end
