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
    #   0   version (8)   1
    #   1   seen (40)     Unix seconds of the last use of a session that has ended, 0: none has
    #   6   keys          32 bytes each, in the order in which they were entered
    class Users
      VERSION = 1
      HEADER = 6
      # Bytes of a session's key.
      KEY = 32
      # Before the names of users.
      PREFIX = "u/"
      # An entry is prolonged after such a part of the time for which a session may be idle.
      PROLONGED = 16
      # Keys of which those that are no longer are looked for.
      MANY = 50
      # Attempts to change an entry that others change meanwhile.
      ATTEMPTS = 100
      # Seconds for which it is known when somebody who is signed out was last seen, where sessions may idle for ever.
      SEEN = 30 * 86_400
      private_constant :VERSION, :HEADER, :PREFIX, :PROLONGED, :MANY, :ATTEMPTS, :SEEN

      # An entry as it was read.
      Entry = Struct.new(:bytes, :seen, :keys)
      private_constant :Entry

      # @param backend [Backends::File, Backends::Store, Backends::Backed]
      # @param idle [Numeric, nil] seconds after its last use when a session ends, nil: never
      # @param max [Integer, nil] sessions a user, nil: as many as can be named
      def initialize(backend, idle: nil, max: nil)
        @backend = backend
        @prolonged = idle && [(idle / PROLONGED).to_i, 1].max
        @life = idle && (idle + @prolonged + Lifetimes::USED_EVERY)
        @per_user = max
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
      #   oldest first
      def add(user, key, instead: nil)
        surplus = []
        outcome = change(user) do |keys|
          keys -= [key]
          keys = keys.select { |other| yield(other) } if keys.size >= [max, MANY].compact.min
          counted = keys - [instead]
          surplus = max ? counted.first([counted.size + 1 - max, 0].max) : []
          keys - surplus + [key]
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

      # Keeps the entry for as long again, seldom: it lives longer by a part than any session of its user.
      #
      # @param user [String]
      # @param before [Integer] Unix seconds of the use before
      # @param now [Integer] Unix seconds
      # @return [void]
      def used(user, before, now)
        @backend.touch(PREFIX + user, @life) if @life && before / @prolonged != now / @prolonged
      end

      private

      # Sessions a user may have.
      def max
        @max ||= [@per_user, (room(@backend.cache) if @backend.respond_to?(:cache))].compact.min
      end

      # How many keys an entry of the file has room for.
      def room(cache)
        (cache.max_pinned - PREFIX.bytesize - Identity::MAX - HEADER) / KEY
      end

      def entry(user)
        key = PREFIX + user
        bytes = @backend.read(key) || restored(key)
        return unless bytes
        return Entry.new(bytes, 0, []) unless bytes.getbyte(0) == VERSION && bytes.bytesize >= HEADER

        _version, high, low = bytes.unpack("CCN")
        keys = ((bytes.bytesize - HEADER) / KEY).times.map { |i| bytes.byteslice(HEADER + (i * KEY), KEY) }
        Entry.new(bytes, (high << 32) | low, keys)
      end

      def restored(key)
        bytes = @backend.reload(key)
        @backend.restore(key, bytes, @life, pin: true) if bytes
        @backend.read(key) if bytes
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
        bytes = [VERSION, seen >> 32, seen & 0xffffffff].pack("CCN") << keys.join
        life = keys.empty? ? (@life || SEEN) : @life
        return @backend.swap(PREFIX + user, entry.bytes, bytes, life, pin: keys.any?) if entry

        @backend.add(PREFIX + user, bytes, life, pin: keys.any?)
      end
    end
  end
end
