# frozen_string_literal: true

# Notes when a user, or everybody, was logged out: copies of older sessions are not reloaded. A part of the Index.

require_relative "backends/tombstones"

module Larder
  module Sessions
    # A note is the time of the last logout and, in hexadecimal, the keys of the sessions that it left out. Users have
    # notes only if sessions have copies outside of this file, or are moved here from another store (migrate_from:).
    module Logouts
      # The note about everybody, and before those about users.
      LOGOUT = "logout"
      # Attempts to write a note, which others write too.
      ATTEMPTS = 5
      private_constant :LOGOUT, :ATTEMPTS

      # Ends all older sessions, also those that are reloaded later.
      #
      # @return [void]
      # @raise [Error] the note could not be written
      def log_out_all
        note_logout(LOGOUT)
      end

      # Ends a user's older sessions, also those that are reloaded later.
      #
      # @param user [String]
      # @param except [Array<String>] the keys of a session that goes on
      # @return [void]
      # @raise [Error] the note could not be written
      def log_out(user, except: [])
        note_logout(name_of(user), life_of_notes, except)
      end

      # @param record [Record]
      # @param key [String]
      # @param reload [Boolean] read also notes that the file has lost
      # @return [Boolean] was one of its users, or everybody, logged out since it began?
      # @raise [UnavailableError] the store that may have a note does not answer
      def logged_out?(record, key, reload: false)
        return false unless record.user?

        names = names_of(record.users)
        copies = reload ? reloaded(names) : {}
        names.any? { |name| covered?(record, key, @backend.read(name) || copies[name]) }
      end

      # A session that begins in the second of a logout, after it, counts from the next second, so it is not ended. The
      # same holds if the clock was set back since the logout.
      #
      # @param users [Array<String>]
      # @return [Integer] Unix seconds at which a session begins now
      def beginning(users)
        now = @clock.call
        users.empty? ? now : [now - 1, last_logout(users)].max + 1
      end

      # @param users [Array<String>]
      # @param since [Integer] Unix seconds
      # @return [Boolean] was one of them, or everybody, logged out since, or in that second?
      def logout_noted?(users, since:)
        last_logout(users) >= since
      end

      # A session that a logout left out goes on under another key.
      #
      # @param record [Record]
      # @param key [String]
      # @param other [String]
      # @return [void]
      def renamed(record, key, other)
        return unless record.user? && @backend.copied?

        record.users.each { |user| leave_out(name_of(user), hex(key), hex(other)) }
      end

      private

      def name_of(user)
        "#{LOGOUT}/#{user}"
      end

      def names_of(users)
        [LOGOUT, *users.map { |user| name_of(user) }]
      end

      def hex(key)
        key.unpack1("H*")
      end

      # By the notes in this file; -1: there was none.
      def last_logout(users)
        names_of(users).map { |name| @backend.read(name)&.to_i || -1 }.max
      end

      # Unless the note leaves the session out.
      def covered?(record, key, note)
        !note.nil? && record.began <= note.to_i && !note.include?(hex(key))
      end

      # Puts notes that the file has lost into it again.
      #
      # @return [Hash{String => String}]
      def reloaded(names)
        @backend.copies(names.reject { |name| @backend.read(name) }).each do |name, note|
          @backend.restore(name, note, (life_of_notes unless name == LOGOUT), pin: true)
        end
      end

      # Seconds, nil: for ever.
      def life_of_notes
        life = @lifetimes.longest
        life && Backends::Tombstones.beyond(life)
      end

      def leave_out(name, key, other)
        note = @backend.read(name)
        put(name, note, "#{note} #{other}", life_of_notes, true) if note&.include?(key)
      end

      # A note that may be evicted is better than none.
      def note_logout(name, life = nil, except = [])
        pin = true
        ATTEMPTS.times do
          bytes = [@clock.call, *except.map { |key| hex(key) }].join(" ")
          outcome = put(name, @backend.read(name), bytes, life, pin)
          return if outcome == :stored

          pin = false if outcome == :full
        end
        raise Error, "#{@backend} took no note of the logout: nobody was logged out, try again"
      end

      def put(name, before, bytes, life, pin)
        before ? @backend.swap(name, before, bytes, life, pin: pin) : @backend.add(name, bytes, life, pin: pin)
      end
    end
  end
end
