# frozen_string_literal: true

# Decides whether the file has room for one more who signs in, and warns the operator before it has not.

require_relative "pinning"

module Larder
  module Sessions
    # Sign-ins end where a tenth of the pinned room is left: it is reserved for the sessions that are there, which grow.
    # What has expired is dropped before anybody is refused.
    #
    # The file's figures cost some 20 µs, so they are read once in a second, and sooner where few more sign-ins fit.
    class Room
      # Shares of the pinned room: from which sign-ins are refused, the operator is warned, and may be warned again.
      LIMIT = 0.9
      NEARLY = 0.8
      CALM = 0.75
      # Seconds for which a figure is believed, and room of which another process may take part meanwhile: so many
      # bytes for a sign-in of this one.
      EVERY = 1
      SIGN_IN_BYTES = 8192
      # Set in the file while the operator has been warned, and for so many seconds after expired items were dropped.
      WARNED = "warned"
      PRUNED = "pruned"
      PRUNED_EVERY = 30
      private_constant :CALM, :EVERY, :SIGN_IN_BYTES, :WARNED, :PRUNED, :PRUNED_EVERY

      # @param cache [Cache]
      # @param report [#call] told that room is short, as an Error
      def initialize(cache, report:)
        @cache = cache
        @report = report
        @looked = -Float::INFINITY
        @left = 0
      end

      # @return [Boolean] may one more sign in?
      def for_sign_in?
        look if (@left -= 1).negative? || now >= @looked + EVERY
        @share < LIMIT
      end

      private

      def look
        @looked = now
        @share = share
        return calm if @share < CALM
        return if @share < NEARLY

        @share = share if prune
        warn_once if @share >= NEARLY
      end

      def share
        stats = @cache.stats
        pinned, room = stats.values_at(:pinned_bytes, :pinned_room_bytes)
        @left = [(room * LIMIT) - pinned, 0].max.div(SIGN_IN_BYTES)
        pinned.fdiv(room)
      end

      def prune
        @cache.add(PRUNED, "", ttl: PRUNED_EVERY) && @cache.prune.positive?
      end

      # One process of all that have the file.
      def warn_once
        return if @cache.exist?(WARNED)

        first = Pinning.as_room_allows { |pin| @cache.add(WARNED, "", pin: pin) }
        @report.call(NoRoomSoonError.new(@cache, @share)) if first
      end

      def calm
        @cache.delete(WARNED) if @cache.exist?(WARNED)
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
