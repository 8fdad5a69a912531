# frozen_string_literal: true

# Pins entries as the room of the file allows. Decides whether it has room for one more sign-in, and warns the operator
# in time.

require "larder/bytes/monotonic_clock"
require_relative "errors"

module Larder
  module Sessions
    # For counters, tombstones and settings, which are useful also in a full file.
    module Pinning
      # @yieldparam pin [Boolean] true, and false after a FullError
      # @return [Object] the block's value
      def self.as_room_allows
        yield true
      rescue ::Larder::FullError
        yield false
      end
    end

    # The last tenth of the pinned room is reserved for the sessions that are there, which grow. Expired items are
    # dropped before a sign-in is refused.
    #
    # The file's figures take some 20 µs, so they are read once in a second, and more often if few sign-ins fit.
    class Room
      include MonotonicClock

      # Shares of the pinned room from which sign-ins are refused, and the operator is warned.
      LIMIT = 0.9
      NEARLY = 0.8
      # Seconds for which a figure is used, and bytes that are left for each sign-in meanwhile: other processes take
      # some of them.
      EVERY = 1
      SIGN_IN_BYTES = 8192
      # Entries of the file that keep all processes from warning and from dropping expired items again, for these
      # seconds.
      WARNED = "warned"
      WARNED_EVERY = 86_400
      PRUNED = "pruned"
      PRUNED_EVERY = 30
      private_constant :EVERY, :SIGN_IN_BYTES, :WARNED, :WARNED_EVERY, :PRUNED, :PRUNED_EVERY

      # @param cache [Cache]
      # @param report [#call] called with an Error that warns
      def initialize(cache, report:)
        @cache = cache
        @report = report
        @looked = -Float::INFINITY
        @left = 0
      end

      # @return [Boolean] may one more sign in?
      def for_sign_in?
        look if (@left -= 1).negative? || monotonic_now >= @looked + EVERY
        @share < LIMIT
      end

      private

      def look
        @looked = monotonic_now
        measure
        measure if @share >= NEARLY && @cache.add(PRUNED, "", ttl: PRUNED_EVERY) && @cache.prune.positive?
        return if @share < NEARLY

        first = Pinning.as_room_allows { |pin| @cache.add(WARNED, "", ttl: WARNED_EVERY, pin: pin) }
        @report.call(NoRoomSoonError.new(@cache, @share)) if first
      rescue ::Larder::DamagedError
        @share = 0 # the file was truncated or replaced; the next call opens another
      end

      def measure
        pinned, room = @cache.stats.values_at(:pinned_bytes, :pinned_room_bytes)
        @left = [(room * LIMIT) - pinned, 0].max.div(SIGN_IN_BYTES)
        @share = pinned.fdiv(room)
      end
    end
  end
end
