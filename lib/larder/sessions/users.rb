# frozen_string_literal: true

# Keeps, for each user, the keys of the user's sessions. An entry may name sessions that have ended: readers check each.

module Larder
  module Sessions
    # A session is entered before it is stored, so each stored session is named; whoever stored one checks that it still
    # is, so that a logout in between ends it.
    #
    # An entry must outlive the sessions that it names, also after the lifetimes were changed: it has its own end in it,
    # which is put off before a session is kept for longer.
    #
    #   0   version (8)   2
    #   1   seen (40)     Unix seconds of the last use of a session that has ended, 0: none has
    #   6   ends (40)     Unix seconds of the end of the entry, all bits: never
    #   11  keys          32 bytes each, in the order in which they were entered
    class Users
      VERSION = 2
      HEADER = 11
      # The end of an entry that has none.
      NEVER = (1 << 40) - 1
      # Bytes of a session's key.
      KEY = 32
      # Before the names of users.
      PREFIX = "u/"
      # An entry lives longer by this part of the idle timeout, so that its end is seldom put off.
      PROLONGED = 16
      # From this many keys on, those of ended sessions are removed.
      MANY = 50
      # Attempts to change an entry, which others change too.
      ATTEMPTS = 100
      # Seconds for which the last use of a user without sessions is known, if sessions may be idle for ever.
      SEEN = 30 * 86_400
      private_constant :VERSION, :HEADER, :NEVER, :PREFIX, :PROLONGED, :MANY, :ATTEMPTS, :SEEN

      # An entry as it was read.
      Entry = Struct.new(:bytes, :seen, :ends, :keys)
      private_constant :Entry

      # @param backend [Backends::File, Backends::Store, Backends::Backed]
      # @param idle [Numeric, nil] seconds after its last use when a session ends, nil: never
      # @param max [Integer, nil] sessions of a user, nil: as many as an entry can name
      # @param clock [#call] Unix time
      def initialize(backend, idle: nil, max: nil, clock: -> { Time.now.to_i })
        @backend = backend
        @idle = idle
        @per_user = max
        @clock = clock
      end

      # @param user [String]
      # @return [Array<String>] keys of sessions that are, or were, the user's
      def keys(user)
        entry(user)&.keys || []
      end

      # @param user [String]
      # @return [Integer] Unix seconds of the last use of a session that has ended, 0: not known
      def seen(user)
        entry(user)&.seen || 0
      end

      # @param user [String]
      # @param key [String]
      # @param idle [Numeric, nil] seconds after its last use when that session ends, nil: never
      # @param instead [String, nil] the key of a session that is about to end, and does not count
      # @yieldparam key [String] of another session
      # @yieldreturn [Boolean] is it still the user's? Otherwise it is removed
      # @return [Array(Symbol, Array<String>)] :stored, :refused or :full, and the keys of the sessions that are too
      #   many, the oldest first. They stay named until they have ended, in case this process dies before
      def add(user, key, idle: @idle, instead: nil)
        surplus = []
        outcome = change(user, idle: idle) do |keys|
          keys -= [key]
          keys = keys.select { |other| yield(other) } if keys.size >= [max, MANY].compact.min
          counted = keys - [instead]
          surplus = max ? counted.first([counted.size + 1 - max, 0].max) : []
          (keys + [key]).last(room || (keys.size + 1))
        end
        [outcome, surplus]
      end

      # @param user [String]
      # @param key [String]
      # @param seen [Integer] Unix seconds of its last use
      # @return [void]
      def remove(user, key, seen:)
        change(user, seen: seen) { |keys| keys - [key] } if keys(user).include?(key)
      end

      # Puts off the end of the entry if that is before the end of a session that is used now.
      #
      # @param user [String]
      # @param key [String]
      # @param idle [Numeric, nil] seconds after its last use when that session ends, nil: never
      # @return [Boolean] false: the entry does not name the session
      def keep(user, key, idle: @idle)
        entry = entry(user)
        return false unless entry&.keys&.include?(key)
        return true if entry.ends >= (idle ? @clock.call + needed(idle) : NEVER)

        change(user, idle: idle) { |keys| keys.include?(key) ? keys : (return false) }
        true
      end

      private

      def needed(idle)
        idle.ceil + Lifetimes::USED_EVERY
      end

      def life(idle)
        idle && (needed(idle) + [(idle / PROLONGED).to_i, 1].max)
      end

      # Sessions that a user may have.
      def max
        @max ||= [@per_user, room].compact.min
      end

      # Keys that an entry of the file has room for.
      def room
        return unless @backend.respond_to?(:cache)

        @room ||= (@backend.cache.max_pinned - PREFIX.bytesize - Identity::MAX - HEADER) / KEY
      end

      def entry(user)
        name = PREFIX + user
        bytes = @backend.read(name) || restored(name)
        bytes && (parse(bytes) || Entry.new(bytes, 0, 0, []))
      end

      # @return [Entry, nil] nil: it is of another version
      def parse(bytes)
        return unless bytes.getbyte(0) == VERSION && bytes.bytesize >= HEADER

        seen, seen_low, ends, ends_low = bytes.unpack("xCNCN")
        keys = (HEADER...bytes.bytesize).step(KEY).map { |at| bytes.byteslice(at, KEY) }
        Entry.new(bytes, (seen << 32) | seen_low, (ends << 32) | ends_low, keys)
      end

      # The sessions that an entry in the store names are entered again when they are restored.
      def restored(name)
        bytes = @backend.reload(name)
        entry = bytes && parse(bytes)
        return unless entry

        @backend.restore(name, bytes, left(entry.ends), pin: true)
        @backend.read(name)
      rescue UnavailableError
        nil
      end

      def change(user, idle: @idle, seen: 0)
        ATTEMPTS.times do
          entry = entry(user)
          keys = yield(entry ? entry.keys : [])
          outcome = store(user, entry, keys, [seen, entry ? entry.seen : 0].max, idle)
          return outcome unless %i[changed gone].include?(outcome)
        end
        :refused
      end

      # An entry without keys only tells the last use, and may be evicted.
      def store(user, entry, keys, seen, idle)
        ends = ends_of(entry, keys, life(idle))
        bytes = [VERSION, seen >> 32, seen & 0xffffffff, ends >> 32, ends & 0xffffffff].pack("CCNCN") << keys.join
        return @backend.swap(PREFIX + user, entry.bytes, bytes, left(ends), pin: keys.any?) if entry

        @backend.add(PREFIX + user, bytes, left(ends), pin: keys.any?)
      end

      # Never earlier than before if a session stays named: other options may have kept it for longer.
      def ends_of(entry, keys, life)
        life ||= SEEN if keys.empty?
        ends = life ? @clock.call + life : NEVER
        entry&.keys&.intersect?(keys) ? [ends, entry.ends].max : ends
      end

      def left(ends)
        [ends - @clock.call, 1].max unless ends == NEVER
      end
    end
  end
end
