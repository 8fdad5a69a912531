# frozen_string_literal: true

# Owns how a session goes on under another key, as options[:renew] asks at a sign-in. A part of the Repository.

module Larder
  module Sessions
    # A session is kept under its other key before it is taken from the one that it had, by compare and swap. So whoever
    # changes or ends it meanwhile is seen, and a process that dies in between leaves one of the two at least.
    #
    # Before it is taken, it is noted for a while under the key that it had what it goes on as. Whoever ends a session
    # deletes it and reads the note then: so of a renewal and an end by the former id, one sees the other. The note is
    # read by nothing else, so a former id opens nothing.
    module IdRotation
      # Attempts to move a session that others change meanwhile.
      ATTEMPTS = 100
      # Seconds for which the former id of a session ends it.
      REST = 60
      # Before a session's key: under which keys it goes on, and under which it was before.
      NEXT = "m/"
      BEFORE = "b/"
      private_constant :ATTEMPTS, :REST, :NEXT, :BEFORE

      # Lets a session go on under another key, with what others have made of it by then, and ends it under its own. It
      # is as old as before, unless somebody else is signed in now.
      #
      # @param found [Repository::Found]
      # @param key [String] the other
      # @param values [Hash{String => Object}]
      # @param bound [Array<String>, nil] as {Repository#commit} takes it
      # @return [Boolean] false: it has ended meanwhile and nobody has signed in since, or it could not be kept
      # @raise [LossyValueError] naming a value that cannot be kept
      def renew(found, key, values, bound: nil)
        values = @format.convert(values)
        change = Changeset.between(@format.load(found.record.values), values, @format)
        other = move(found, key, change, bound)
        return other unless other.is_a?(Record)
        # It is over. Somebody who signs in has a session all the same, unless that has ended by now as well.
        return !record(key).nil? if others?(other, found.record)

        self.end(key)
        false
      end

      # @param key [String]
      # @return [Array<String>] keys under which the session goes on that was moved from this one a moment ago
      def successors(key)
        keys_in(NEXT + key)
      end

      # @param key [String]
      # @return [Array<String>] keys that the session has had a moment ago
      def predecessors(key)
        keys_in(BEFORE + key).flat_map { |before| [before, *predecessors(before)] }
      end

      private

      # @return [Boolean, Record] true, false where it could not be kept, and as what it was where it was gone
      def move(before, key, change, bound)
        other = nil
        ATTEMPTS.times do
          after = moved_on(before.record, change, bound)
          kept = if other then kept_again?(other, after)
                 else start(after, key, instead: before.key, sign_in: !before.record.user?)
                 end
          return false unless kept

          unless other || forward(before, key)
            self.end(key)
            return false
          end
          @index.renamed(before.record, before.key, key)
          outcome = take(before)
          return true if outcome == :stored
          return after unless outcome == :changed

          other = Repository::Found.new(key, after.to_bytes, after)
          before = again(before.key)
          return after unless before
        end
        other.record
      end

      # What is under the other key already goes where it cannot be kept as it is by now.
      def kept_again?(other, after)
        kept = swap(other, after) == true
      ensure
        self.end(other.key) unless kept
      end

      def moved_on(record, change, bound)
        after = changed(record, change.applied_to(@format.load(record.values)), bound)
        record.user? && !after.user? ? after.with(began: now, used: now) : after
      end

      # Nobody has a handle of a session in which nobody is signed in.
      def forward(before, key)
        noted?(NEXT + before.key, key) && (!before.record.user? || noted?(BEFORE + key, before.key))
      end

      # Several may move one session at once: of those who sign in in it, each goes on.
      def noted?(name, key)
        pin = true
        ATTEMPTS.times do
          bytes = @backend.read(name)
          outcome = if bytes then @backend.swap(name, bytes, bytes + key, REST, pin: pin)
                    else @backend.add(name, key, REST, pin: pin)
                    end
          return outcome == :stored unless %i[changed gone full].include?(outcome)

          pin = false if outcome == :full # a note that may be evicted is better than none
        end
        false
      end

      def keys_in(name)
        bytes = @backend.read(name)
        bytes ? (bytes.bytesize / Users::KEY).times.map { |i| bytes.byteslice(i * Users::KEY, Users::KEY) } : []
      end

      # Is somebody signed in, and none of those who were before?
      def others?(after, before)
        after.user? && !after.users.intersect?(before.users)
      end

      # Of all that end a session or move it on, one is told that it did.
      def take(before)
        return :gone if before.record.user? && @index.logout_noted?([], since: before.record.used)

        moved = before.record.moved(now)
        left = @lifetimes.left(before.record, now) # of what a store behind may still have
        outcome = @index.counting(before.record, nil, before.key) do
          @backend.swap(Repository::PREFIX + before.key, before.bytes, moved.to_bytes, left)
        end
        return outcome unless outcome == :stored

        @backend.delete(Repository::PREFIX + before.key) ? :stored : :gone
      end
    end
  end
end
