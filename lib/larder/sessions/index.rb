# frozen_string_literal: true

# Keeps what is known about sessions beside them: the sessions of each user, and how many sessions there are.

require_relative "activity"
require_relative "logouts"
require_relative "recounts"
require_relative "room"
require_relative "settings"
require_relative "users"

module Larder
  module Sessions
    # The {Repository} tells it of each change of a session. In a file of Larder's it counts them, too. An error of the
    # index is reported and ends no session, with one exception: a sign-in fails if the user's entry cannot be written.
    class Index
      include Logouts

      # @return [Users]
      attr_reader :users
      # @return [Activity, nil] nil: the backend has no counters
      attr_reader :activity

      # @param repository [Repository]
      # @param per_user [Integer, nil] sessions that a user may have at a time
      # @param report [#call] called with each Error
      def initialize(repository, per_user:, report:)
        @repository = repository
        @backend = repository.backend
        @report = report
        clock = -> { repository.now }
        @users = Users.new(@backend, idle: repository.lifetimes.idle, max: per_user, clock: clock)
        return unless @backend.respond_to?(:cache)

        @activity = Activity.new(@backend.cache, repository.lifetimes)
        @recounts = Recounts.new(@backend.cache, report: report, clock: clock)
        @room = Room.new(@backend.cache, report: report)
      end

      # Writes the {Settings} into the file at its first use. If it had others, sessions were counted by other ends.
      #
      # @return [void]
      def announce
        return unless @activity

        @settings = Settings.new(@backend.cache, lifetimes: @repository.lifetimes, backed_by: @backend.behind)
        @backend.cache.when_attached { @recounts.doubt if @settings.write }
      end

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
        full if sign_in && @room && users.any? && !@room.for_sign_in?
        users.all? { |user| enter(user, key, record, instead: instead) }
      end

      # @raise [NoRoomError] after reporting it
      def full
        error = NoRoomError.new(@backend)
        @report.call(error)
        raise error
      end

      # Makes the entries of users outlive a session that is used now. A failure is reported; the next use tries again.
      #
      # @param record [Record]
      # @param key [String]
      # @param users [Array<String>] some of its users
      # @return [void]
      def keep(record, key, users = record.users)
        idle = idle_of(record)
        reporting { users.each { |user| @users.keep(user, key, idle: idle) || admit(record, key, [user]) } }
      end

      # @param users [Array<String>]
      # @param key [String]
      # @return [Boolean] do the entries of all users name the session?
      def admitted?(users, key)
        users.all? { |user| @users.keys(user).include?(key) }
      end

      # Runs the block, which stores or deletes a session, and corrects counts and users' entries.
      #
      # @param before [Record, nil] the session as it was, nil: there was none
      # @param after [Record, nil] the session as it will be, nil: none
      # @param key [String]
      # @yieldreturn [Symbol] :stored, or another if nothing has changed
      # @return [Symbol] the block's
      def counting(before, after, key, &store)
        outcome = @activity && (before || after) ? counted(before, after, &store) : yield
        reporting { remove_left(before, after, key) } if outcome == :stored && before&.user?
        outcome
      end

      # Corrects the counts in a thread if they are doubtful, see {Recounts}.
      #
      # @return [Thread, nil]
      def repair_counts
        @recounts&.look { count_all }
      end

      # Corrects the counts, after another process that does so.
      # @return [void]
      def recount
        @recounts.recount { count_all }
      end

      # If the file's index grows during the walk, some keys are visited twice. They are left out the second time.
      #
      # @return [Enumerator::Lazy<Array(String, Record)>] the sessions in the file, by their keys
      def sessions
        keys = @repository.enum_for(:each_key).lazy.uniq(&:hash) # which takes less memory than the keys
        keys.filter_map { |key| (record = @repository.record(key)) && [key, record] }
      end

      private

      def idle_of(record)
        @repository.lifetimes.idle_of(record)
      end

      # @return [Record, nil] nil: it is not the user's
      def theirs(key, user)
        record = @repository.record(key)
        record if record&.users&.include?(user)
      end

      # @param beside [String, nil] the key of a session that is about to be stored
      def enter(user, key, record, instead: nil, beside: nil)
        left = []
        outcome, surplus = @users.add(user, key, idle: idle_of(record), instead: instead) do |other|
          other == beside || theirs(other, user) || !left.push(other)
        end
        surplus.each { |other| @repository.end(other) }
        full if outcome == :full
        left.each { |other| enter_again(user, other, beside: key) }
        outcome == :stored
      end

      # Another request may have signed the user in in this session meanwhile.
      def enter_again(user, key, beside: nil)
        record = theirs(key, user)
        return if record.nil? || admitted?([user], key)

        @repository.end(key) unless enter(user, key, record, beside: beside)
      rescue NoRoomError
        @repository.end(key) # it may not go on without an entry
      end

      def remove_left(before, after, key)
        (before.users - (after ? after.users : [])).each do |user|
          @users.remove(user, key, seen: before.used)
          enter_again(user, key) if after
        end
      end

      def count_all
        @activity.recount(sessions.map(&:last), now: @repository.now)
      end

      # Whatever interrupts the block or the counting leaves the counts doubtful.
      def counted(before, after)
        reporting { @settings&.keep }
        outcome = yield
        sure = outcome != :stored || reporting { @activity.moved(before, after) }
        outcome
      rescue Error
        sure = true # the backend has refused it
        raise
      ensure
        @recounts.doubt unless sure
      end

      # @return [Boolean] false: it failed
      def reporting
        yield
        true
      rescue ::Larder::Error => error
        @report.call(error) unless error.is_a?(NoRoomError) # which was reported
        false
      end
    end
  end
end
