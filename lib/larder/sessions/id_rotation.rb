# frozen_string_literal: true

# Owns how a session goes on under another key, as options[:renew] asks at a sign-in. A part of the Repository.

module Larder
  module Sessions
    # A session is kept under its other key before it is taken from the one that it had, by compare and swap. So whoever
    # changes or ends it meanwhile is seen, and a process that dies in between leaves one of the two at least.
    module IdRotation
      # Attempts to move a session that others change meanwhile.
      ATTEMPTS = 100
      # Seconds that what was moved is there, should its process die before it deletes it.
      REST = 60
      private_constant :ATTEMPTS, :REST

      # Lets a session go on under another key, with what others have made of it by then, and ends it under its own. It
      # is as old as before, unless somebody else is signed in now.
      #
      # @param found [Repository::Found]
      # @param key [String] the other
      # @param values [Hash{String => Object}]
      # @param bound [Array<String>, nil] as {Repository#commit} takes it
      # @return [Boolean] false: it has ended meanwhile and nobody has signed in since, or it could not be kept
      # @raise [LossyValueError] naming a value that would not come back
      def renew(found, key, values, bound: nil)
        @format.check(values)
        change = Changeset.between(@format.load(found.record.values), values, @format)
        other = move(found, key, change, bound)
        return other unless other.is_a?(Record)
        return true if others?(other, found.record) # it is over, and somebody signs in

        self.end(key)
        false
      end

      private

      # @return [Boolean, Record] true, false where it could not be kept, and as what it was where it was gone
      def move(before, key, change, bound)
        other = nil
        ATTEMPTS.times do
          after = moved_on(before.record, change, bound)
          kept = other ? swap(other, after) : start(after, key, instead: before.key)
          return false unless kept == true

          outcome = take(before)
          return true if outcome == :stored
          return after unless outcome == :changed

          other = Repository::Found.new(key, after.to_bytes, after)
          before = again(before.key)
          return after unless before
        end
        other.record
      end

      def moved_on(record, change, bound)
        after = changed(record, change.applied_to(@format.load(record.values)), bound)
        others?(after, record) || (record.user? && !after.user?) ? after.with(began: now, used: now) : after
      end

      # Is somebody signed in, and none of those who were before?
      def others?(after, before)
        after.user? && !after.users.intersect?(before.users)
      end

      # Of all that end a session or move it on, one is told that it did.
      def take(before)
        return :gone if before.record.user? && @index.everybody_out?(since: before.record.used)

        moved = before.record.moved(now)
        outcome = @backend.swap(Repository::PREFIX + before.key, before.bytes, moved.to_bytes, REST)
        return outcome unless outcome == :stored

        @index.ended(before.record, before.key)
        @backend.delete(Repository::PREFIX + before.key) ? :stored : :gone
      end
    end
  end
end
