# frozen_string_literal: true

# Owns which sessions a user has: an entry for each user beside the sessions. It may name sessions that are no longer;
# who reads it looks at each.

module Larder
  module Sessions
    # The index from users to the keys of their sessions.
    #
    # A session is entered before it is stored, so that none is that the index does not name; and who has stored one
    # looks whether it is still named: a logout in between takes it along.
    #
    # An entry outlives the sessions that it names, whatever the options were under which each was written: its own end
    # is in it, and is put off before a session is kept for longer.
    #
    #   0   version (8)   2
    #   1   seen (40)     Unix seconds of the last use of a session that has ended, 0: none has
    #   6   ends (40)     Unix seconds at which the entry does, all bits: never
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
      # An entry lives longer by such a part of the idle timeout, so that it is seldom prolonged.
      PROLONGED = 16
      # Keys of which those that are no longer are looked for.
      MANY = 50
      # Attempts to change an entry that others change meanwhile.
      ATTEMPTS = 100
      # Seconds for which it is known when somebody who is signed out was last seen, where sessions may idle for ever.
      SEEN = 30 * 86_400
      private_constant :VERSION, :HEADER, :NEVER, :PREFIX, :PROLONGED, :MANY, :ATTEMPTS, :SEEN

      # An entry as it was read.
      Entry = Struct.new(:bytes, :seen, :ends, :keys)
      private_constant :Entry

      # @param backend [Backends::File, Backends::Store, Backends::Backed]
      # @param idle [Numeric, nil] seconds after its last use when a session ends, nil: never
      # @param max [Integer, nil] sessions a user, nil: as many as can be named
      # @param clock [#call] Unix time
      def initialize(backend, idle: nil, max: nil, clock: -> { Time.now.to_i })
        @backend = backend
        @needed = idle && (idle.ceil + Lifetimes::USED_EVERY)
        @life = idle && (@needed + [(idle / PROLONGED).to_i, 1].max)
        @per_user = max
        @clock = clock
      end

      # @param user [String]
      # @yieldparam key [String] of a session that is, or was, the user's
      # @return [Boolean] is the block true for one?
      def any?(user)
        key = PREFIX + user
        bytes = @backend.read(key) || restored(key)
        return false unless bytes && bytes.getbyte(0) == VERSION

        at = bytes.bytesize
        (return true if yield(bytes.byteslice(at, KEY))) while (at -= KEY) >= HEADER
        false
      end

      # @param user [String]
      # @return [Array<String>] keys of sessions that are, or were, the user's
      def keys(user)
        entry(user)&.keys || []
      end

      # @param user [String]
      # @return [Integer, nil] Unix seconds of the last use of a session that has ended
      def seen(user)
        seen = entry(user)&.seen
        seen if seen&.positive?
      end

      # @param user [String]
      # @param key [String]
      # @param instead [String, nil] the key of a session that is about to end, and does not count
      # @yieldparam key [String] of another session
      # @yieldreturn [Boolean] is it still the user's? Others leave the index
      # @return [Array(Symbol, Array<String>)] :stored, :refused or :full, and the keys that are one too many, the
      #   oldest first. These are named until their sessions have ended: who dies before leaves none that is not
      def add(user, key, instead: nil)
        surplus = []
        outcome = change(user) do |keys|
          keys -= [key]
          keys = keys.select { |other| yield(other) } if keys.size >= [max, MANY].compact.min
          counted = keys - [instead]
          surplus = max ? counted.first([counted.size + 1 - max, 0].max) : []
          named = keys + [key]
          room ? named.last(room) : named
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

      # Puts off the end of the entry, where that is before the end of a session that is used now.
      #
      # @param user [String]
      # @param key [String]
      # @return [Boolean] false: the entry does not name the session
      def keep(user, key)
        bytes = @backend.read(PREFIX + user)
        return true if bytes && lasts?(bytes) && named?(bytes, key)

        change(user) { |keys| keys.include?(key) ? keys : (return false) }
        true
      end

      private

      # Sessions a user may have.
      def max
        @max ||= [@per_user, room].compact.min
      end

      # How many keys an entry of the file has room for.
      def room
        return unless @backend.respond_to?(:cache)

        @room ||= (@backend.cache.max_pinned - PREFIX.bytesize - Identity::MAX - HEADER) / KEY
      end

      def entry(user)
        key = PREFIX + user
        bytes = @backend.read(key) || restored(key)
        return unless bytes
        return Entry.new(bytes, 0, 0, []) unless readable?(bytes)

        _version, high, low = bytes.unpack("CCN")
        keys = ((bytes.bytesize - HEADER) / KEY).times.map { |i| bytes.byteslice(HEADER + (i * KEY), KEY) }
        Entry.new(bytes, (high << 32) | low, ends(bytes), keys)
      end

      def readable?(bytes)
        bytes.getbyte(0) == VERSION && bytes.bytesize >= HEADER
      end

      def ends(bytes)
        high, low = bytes.unpack("CN", offset: 6)
        (high << 32) | low
      end

      def lasts?(bytes)
        readable?(bytes) && ends(bytes) >= (@needed ? @clock.call + @needed : NEVER)
      end

      def named?(bytes, key)
        at = HEADER - 1
        bytes = bytes.b unless bytes.encoding == Encoding::BINARY
        nil while (at = bytes.index(key, at + 1)) && (at - HEADER) % KEY != 0
        !at.nil?
      end

      def restored(key)
        bytes = @backend.reload(key)
        return unless bytes && readable?(bytes)

        @backend.restore(key, bytes, left(ends(bytes)), pin: true)
        @backend.read(key)
      end

      def change(user, seen: 0)
        ATTEMPTS.times do
          entry = entry(user)
          keys = yield(entry ? entry.keys : [])
          outcome = store(user, entry, keys, [seen, entry ? entry.seen : 0].max)
          return outcome unless %i[changed gone].include?(outcome)
        end
        :refused
      end

      # Nothing is kept of those who are signed in nowhere, but when they were seen.
      def store(user, entry, keys, seen)
        ends = ends_of(entry, keys)
        bytes = [VERSION, seen >> 32, seen & 0xffffffff, ends >> 32, ends & 0xffffffff].pack("CCNCN") << keys.join
        return @backend.swap(PREFIX + user, entry.bytes, bytes, left(ends), pin: keys.any?) if entry

        @backend.add(PREFIX + user, bytes, left(ends), pin: keys.any?)
      end

      # What was there may have been kept for longer, by other options.
      def ends_of(entry, keys)
        life = keys.empty? ? (@life || SEEN) : @life
        ends = life ? @clock.call + life : NEVER
        entry&.keys&.intersect?(keys) ? [ends, entry.ends].max : ends
      end

      def left(ends)
        [ends - @clock.call, 1].max unless ends == NEVER
      end
    end
  end
end
