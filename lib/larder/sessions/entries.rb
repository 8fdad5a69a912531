# frozen_string_literal: true

# Names each signed-in session in the entries of its users, and ends those that are too many. A part of the Repository.

module Larder
  module Sessions
    # A session is named before it is stored, and stays named until it has ended, see {Users}.
    module Entries
      # If the file's index grows during the walk, some keys are visited twice. They are left out the second time.
      #
      # @return [Enumerator::Lazy<Array(String, Record)>] the sessions in the file, or in a Redis, by their keys
      # @raise [UnsupportedError] from its first use on: the store cannot list them
      def sessions
        entries = @backend.enum_for(:each_entry, Repository::PREFIX).lazy
        entries = entries.uniq { |key, _| key.hash } # which takes less memory than the keys
        entries.filter_map do |name, bytes|
          record = alive(bytes)
          [name.byteslice(Repository::PREFIX.bytesize..), record] if record
        end
      end

      # Corrects the counts in a thread if they are doubtful, see {Recounts}.
      #
      # @return [Thread, nil]
      def repair_counts
        @index.repair_counts { sessions.map(&:last) }
      end

      # Corrects the counts, after another process that does so.
      # @return [void]
      def recount
        @index.recount { sessions.map(&:last) }
      end

      private

      # Enters a session that is about to become that of users. Ends the oldest sessions of a user who has too many.
      #
      # @param record [Record] the session
      # @param key [String]
      # @param users [Array<String>] some of its users
      # @param instead [String, nil] the key of a session that is about to end
      # @param sign_in [Boolean] nobody was signed in before, so the reserved room may not be used
      # @return [Boolean] false: it could not be entered, and must not be stored
      # @raise [NoRoomError] reported already
      def admit(record, key, users = record.users, instead: nil, sign_in: false)
        @index.full if sign_in && users.any? && !@index.room_for_sign_in?
        users.all? { |user| enter(user, key, record, instead: instead) }
      end

      # Makes the entries of users outlive a session that is used now. A failure is reported; the next use tries again.
      #
      # @param record [Record]
      # @param key [String]
      # @param users [Array<String>] some of its users
      # @return [void]
      def keep(record, key, users = record.users)
        idle = @lifetimes.idle_of(record)
        @index.reporting do
          users.each { |user| @index.users.keep(user, key, idle: idle) || admit(record, key, [user]) }
        end
      end

      # @param users [Array<String>]
      # @param key [String]
      # @return [Boolean] do the entries of all users name the session?
      def admitted?(users, key)
        users.all? { |user| @index.users.keys(user).include?(key) }
      end

      # Runs the block, which stores or deletes a session, and corrects counts and users' entries.
      #
      # @param before [Record, nil] the session as it was, nil: there was none
      # @param after [Record, nil] the session as it will be, nil: none
      # @param key [String]
      # @yieldreturn [Symbol] :stored, or another if nothing has changed
      # @return [Symbol] the block's
      def counting(before, after, key, &store)
        outcome = @index.counting(before, after, &store)
        @index.reporting { remove_left(before, after, key) } if outcome == :stored && before&.user?
        outcome
      end

      # @return [Record, nil] nil: it is not the user's
      def theirs(key, user)
        record = record(key)
        record if record&.users&.include?(user)
      end

      # @param beside [String, nil] the key of a session that is about to be stored
      def enter(user, key, record, instead: nil, beside: nil)
        left = []
        outcome, surplus = @index.users.add(user, key, idle: @lifetimes.idle_of(record), instead: instead) do |other|
          other == beside || theirs(other, user) || !left.push(other)
        end
        surplus.each { |other| self.end(other) }
        @index.full if outcome == :full
        left.each { |other| enter_again(user, other, beside: key) }
        outcome == :stored
      end

      # Another request may have signed the user in in this session since.
      def enter_again(user, key, beside: nil)
        record = theirs(key, user)
        return if record.nil? || admitted?([user], key)

        self.end(key) unless enter(user, key, record, beside: beside)
      rescue NoRoomError
        self.end(key) # it may not go on without an entry
      end

      def remove_left(before, after, key)
        (before.users - (after ? after.users : [])).each do |user|
          @index.users.remove(user, key, seen: before.used)
          enter_again(user, key) if after
        end
      end
    end
  end
end
