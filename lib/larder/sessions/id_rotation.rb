# frozen_string_literal: true

# Moves a session to another key, as options[:renew] asks at a sign-in, and handles requests with the key that it had
# before. A part of the Repository.

module Larder
  module Sessions
    # A session is stored under its new key before it is taken from the old one by compare-and-swap. So changes and ends
    # by other requests are noticed, and a process that dies in between leaves at least one of the two.
    #
    # Before that, a note with the new key is stored under the old one for a minute. To end a session is to delete it,
    # then to read the note: so of a renewal and an end by the old id, one sees the other. A logout that leaves out a
    # session reads the note as well, and so does a late request that signs a user out. An old id opens no session.
    #
    # A session that a sign-in begins instead of another is not named by such a note. An empty note tells late requests
    # with the old id that the browser gets another cookie.
    module IdRotation
      # Attempts of a compare-and-swap.
      ATTEMPTS = 100
      # Seconds for which the old id can end a session.
      REST = 60
      # Names of notes begin with these: the new keys of an old one, and the old keys of a new one.
      NEXT = "m/"
      BEFORE = "b/"
      private_constant :ATTEMPTS, :REST, :NEXT, :BEFORE

      # Moves a session to another key, with the changes of other requests. It keeps its age, unless another user has
      # signed in.
      #
      # @param found [Repository::Found]
      # @param key [String] the other
      # @param values [Hash{String => Object}]
      # @param bound [Array<String>, nil] as {Repository#commit} takes it
      # @param life [Integer, nil] its own lifetime from now on, see {Record#life}
      # @return [Boolean] false: it has ended meanwhile and nobody has signed in since, or it could not be kept
      def renew(found, key, values, bound: nil, life: found.record.life)
        values = @format.convert(values, &@left_out)
        change = Changeset.between(@format.load(found.record.values), values, @format)
        other = move(found, key, change, bound, life)
        return other unless other.is_a?(Record)
        # It has ended. A user who signs in has a session all the same, unless that has ended as well.
        return !record(key).nil? if others?(other, found.record)

        self.end(key)
        false
      end

      # @param key [String]
      # @return [Array<String>] keys to which the session was moved from this one in the last minute
      # @raise [UnavailableError] they are not known
      def successors(key)
        keys_in(NEXT + key)
      end

      # @param key [String]
      # @return [Array<String>] keys that the session had in the last minute
      def predecessors(key)
        keys_in(BEFORE + key).flat_map { |before| [before, *predecessors(before)] }
      end

      # Ends the sessions that this one has become in the last minute, if a request with its key would have signed a
      # user out in them.
      #
      # @param key [String]
      # @param removed [Array<String>, nil] the keys that the request has removed; nil: all
      # @return [void]
      def sign_out_successors(key, removed)
        successors(key).each do |other|
          record = record(other)
          if record.nil? then sign_out_successors(other, removed)
          elsif removed.nil? || signs_out?(record, removed) then self.end(other)
          end
        end
      rescue UnreadableError => error
        @report.call(error)
      end

      # Notes that a session with a user follows another one, or an id that was not known.
      #
      # @param key [String] of the other
      # @return [void]
      def replace_cookie(key)
        @backend.add(NEXT + key, "", REST)
      end

      # @param key [String]
      # @return [Boolean] has its browser got the cookie of another session in the last minute?
      def cookie_replaced?(key)
        note = @backend.read(NEXT + key)
        note == "" || (!note.nil? && successors(key).any? { |other| record(other)&.user? })
      end

      private

      def signs_out?(record, removed)
        values = @format.load(record.values)
        (@user.call(values) - @user.call(values.except(*removed))).any?
      end

      # @return [Boolean, Record] true; false: it could not be stored; the Record as changed: it had ended
      def move(before, key, change, bound, life)
        other = nil
        ATTEMPTS.times do
          after = moved_on(before.record, change, bound, life)
          kept = if other then kept_again?(other, after)
                 elsif forward(before, after, key)
                   start(after, key, instead: before.key, sign_in: !before.record.user?)
                 end
          return false unless kept

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

      # Deletes what is stored under the new key if it cannot be updated.
      def kept_again?(other, after)
        kept = swap(other, after) == true
      ensure
        self.end(other.key) unless kept
      end

      def moved_on(record, change, bound, life)
        after = changed(record, change.applied_to(@format.load(record.values)), bound, life)
        record.user? && !after.user? ? after.with(began: now, used: now) : after
      end

      # A note of the old key leads from the handle of a user's session to the same user's session under the new key.
      def forward(before, after, key)
        return false if late?(before.record, after) && !noted?(Backends::Shared::LATE + before.key, key, late_life)

        named = before.record.user? && !others?(after, before.record)
        noted?(NEXT + before.key, key) && (!named || noted?(BEFORE + key, before.key))
      end

      # True if an end of the former session that is applied late also ends this one. False for the session of a user
      # who has signed in since.
      def late?(before, after)
        @backend.late? && !others?(after, before)
      end

      # Seconds, nil: for ever.
      def late_life
        [@lifetimes.idle, @lifetimes.max].compact.max
      end

      # Several requests may renew one session at once. Of those that sign in, each gets a session.
      def noted?(name, key, life = REST)
        pin = true
        ATTEMPTS.times do
          bytes = @backend.read(name)
          outcome = if bytes then @backend.swap(name, bytes, bytes + key, life, pin: pin)
                    else @backend.add(name, key, life, pin: pin)
                    end
          return outcome == :stored unless %i[changed gone full].include?(outcome)

          pin = false if outcome == :full # a note that may be evicted is better than none
        end
        false
      end

      def keys_in(name)
        bytes = @backend.read(name) || @backend.reload(name)
        bytes ? (bytes.bytesize / Users::KEY).times.map { |i| bytes.byteslice(i * Users::KEY, Users::KEY) } : []
      end

      # Is somebody signed in, and nobody who was before?
      def others?(after, before)
        after.user? && !after.users.intersect?(before.users)
      end

      # Of all requests that end or move a session, one gets :stored.
      def take(before)
        return :gone if @index.left_behind?(before.record)

        moved = before.record.moved(now)
        left = @lifetimes.left(before.record, now) # of what a store behind may still have
        outcome = counting(before.record, nil, before.key) do
          @backend.swap(Repository::PREFIX + before.key, before.bytes, moved.to_bytes, left)
        rescue UnansweredError # a later end of the session finds the note, so the new key is safe to use
          :stored
        end
        return outcome unless outcome == :stored

        @backend.discard(Repository::PREFIX + before.key) ? :stored : :gone
      end
    end
  end
end
