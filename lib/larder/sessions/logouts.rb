# frozen_string_literal: true

# Notes when a user, or everybody, was logged out: older sessions have ended. A part of the Index.

require_relative "backends/tombstones"

module Larder
  module Sessions
    # The entry {EPOCH} has a number, which each logout of all users raises. A signed-in session has the number that was
    # there when its users signed in. One with a lower number has ended. A store that machines share is read with each
    # session (see Backends::Store), and its clocks differ, so no time is compared. In a file, which has one clock, a
    # session has at least the time of its sign-in, as the file may have lost the entry. There a logout of all ends each
    # session, so the number is for those that are renewed at the same time, and for those that are reloaded later.
    #
    # A note about one user is the time of the last logout and, in hexadecimal, the keys of the sessions that it left
    # out. There are some only if sessions have copies outside of this file, or are moved here from another store
    # (migrate_from:).
    module Logouts
      # The entry of the number, and before those about users.
      EPOCH = "logout"
      # Attempts to write an entry, which others write too.
      ATTEMPTS = 5
      private_constant :ATTEMPTS

      # Ends all older sessions.
      #
      # @return [void]
      # @raise [Error] the number could not be written
      def log_out_all
        note_logout(EPOCH) { |before| [@clock.call, before.to_i].max + 1 }
      end

      # Ends a user's older sessions, also those that are reloaded later.
      #
      # @param user [String]
      # @param except [Array<String>] the keys of a session that goes on
      # @return [void]
      # @raise [Error] the note could not be written
      def log_out(user, except: [])
        note_logout(name_of(user), life_of_notes) { [@clock.call, *except.map { |key| hex(key) }].join(" ") }
      end

      # @param record [Record]
      # @param key [String]
      # @param reload [Boolean] read also notes that the file has lost
      # @return [Boolean] was one of its users, or everybody, logged out since it began?
      # @raise [UnavailableError] the store that may have a note does not answer
      def logged_out?(record, key, reload: false)
        return false unless record.user?

        names = [EPOCH, *names_of(record.users)]
        copies = reload ? reloaded(names) : {}
        epoch, *notes = names.map { |name| @backend.read(name) || copies[name] }
        record.epoch < epoch.to_i || notes.any? { |note| covered?(record, key, note) }
      end

      # @param record [Record] that goes on under another key
      # @return [Boolean] has everybody been logged out since, as the backend does not notice itself?
      def left_behind?(record)
        record.user? && !@backend.checks_epochs? && record.epoch < @backend.read(EPOCH).to_i
      end

      # A session that begins in the second of a user's logout, after it, counts from the next second, so it is not
      # ended. The same holds if the clock was set back since the logout.
      #
      # @param users [Array<String>]
      # @return [Hash{Symbol => Integer}] began and epoch of a session that begins now
      def beginning(users)
        now = @clock.call
        return { began: now } if users.empty?

        number, *notes = notes_of(EPOCH, *names_of(users))
        { began: [now, *notes.map { |note| note.to_i + 1 }].max, epoch: @backend.epoch(number, now) }
      end

      # @param users [Array<String>] who sign in in a session of others
      # @param since [Integer] Unix seconds
      # @return [Integer, nil] when it begins if one of them was logged out since, or in that second
      def beginning_after_logout(users, since:)
        last = notes_of(*names_of(users)).map(&:to_i).max
        [@clock.call, last + 1].max if last >= since
      end

      # @param users [Array<String>]
      # @return [Boolean] was one of them, or everybody, ever logged out?
      def logout_noted?(users)
        notes_of(EPOCH, *names_of(users)).any? { |note| note.to_i.positive? }
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
        "#{EPOCH}/#{user}"
      end

      def names_of(users)
        users.map { |user| name_of(user) }
      end

      def hex(key)
        key.unpack1("H*")
      end

      # @return [Array<String, nil>] the notes in this file
      def notes_of(*names)
        @backend.read_multi(names).values_at(*names)
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
          @backend.restore(name, note, (life_of_notes unless name == EPOCH), pin: true)
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
      #
      # @yieldparam before [String, nil]
      # @yieldreturn [#to_s]
      def note_logout(name, life = nil)
        pin = true
        ATTEMPTS.times do
          before = @backend.read(name)
          outcome = put(name, before, yield(before).to_s, life, pin)
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
