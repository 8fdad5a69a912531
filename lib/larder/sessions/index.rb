# frozen_string_literal: true

# Owns what is known about sessions beside the sessions: whose they are, and when how many were used. The Repository
# tells it of each beginning, use and end.

require_relative "activity"
require_relative "process_registry"
require_relative "backends/tombstones"
require_relative "settings"
require_relative "users"

module Larder
  module Sessions
    # The index of users and, in Larder's file, the counts of activity. That something could not be noted down is
    # reported and harms no session, but for one: nobody is signed in who cannot be entered.
    class Index
      # When everybody was last logged out.
      LOGOUT = "logout"
      # Attempts at a note of a logout, where others log out as well or the file is full.
      ATTEMPTS = 5
      private_constant :LOGOUT, :ATTEMPTS

      # @return [Users]
      attr_reader :users
      # @return [Activity, nil] nil: the backend has no counters
      attr_reader :activity

      # @param repository [Repository]
      # @param per_user [Integer, nil] sessions that a user may have at a time
      # @param report [#call] told of what went wrong, as an Error
      def initialize(repository, per_user:, report:)
        @repository = repository
        @report = report
        idle = repository.lifetimes.idle
        @users = Users.new(repository.backend, idle: idle, max: per_user, clock: -> { repository.now })
        return unless repository.backend.respond_to?(:cache)

        @activity = Activity.new(repository.backend.cache)
        @processes = ProcessRegistry.new(repository.backend.cache, report: report)
      end

      # Has the file say, from its first use on, how sessions live, see {Settings}.
      # @return [void]
      def announce
        return unless @activity

        @settings = settings = Settings.of(@repository)
        cache = @repository.backend.cache
        cache.__send__(:_when_attached) { settings.write(cache) }
      end

      # Enters a session that is about to become that of users. Those that are one too many end.
      #
      # @param users [Array<String>]
      # @param key [String]
      # @param instead [String, nil] the key of a session that is about to end
      # @return [Boolean] false: it could not be entered, and must not be stored
      def admit(users, key, instead: nil)
        users.all? do |user|
          outcome, surplus = @users.add(user, key, instead: instead) do |other|
            @repository.record(other)&.users&.include?(user)
          end
          surplus.each { |other| @repository.end(other) }
          @report.call(NoRoomError.new(@repository.backend)) if outcome == :full
          outcome == :stored
        end
      end

      # Has the index name a session for as long as it lives from now on, before it is kept for so long. That it could
      # not is reported, and tried again with the next use.
      #
      # @param users [Array<String>]
      # @param key [String]
      # @return [void]
      def keep(users, key)
        users.each { |user| @users.keep(user, key) || admit([user], key) }
      rescue ::Larder::Error => error
        @report.call(error)
      end

      # @param users [Array<String>]
      # @param key [String]
      # @return [Boolean] is the session still that of them all, as far as the index knows?
      def admitted?(users, key)
        users.all? { |user| @users.keys(user).include?(key) }
      end

      # @param record [Record] as it was stored
      # @return [void]
      def began(record)
        note(@repository.now) { @activity&.began(record) }
      end

      # @param before [Record]
      # @param after [Record] the same session, used later
      # @return [void]
      def used(before, after)
        note(after.used) { @activity&.moved(before, after) }
      end

      # @param before [Record]
      # @param after [Record] the same session, changed
      # @param key [String]
      # @return [void]
      def changed(before, after, key)
        note(after.used) do
          @activity&.moved(before, after)
          (before.users - after.users).each { |user| @users.remove(user, key, seen: before.used) }
        end
      end

      # @param record [Record] as it was last
      # @param key [String]
      # @return [void]
      def ended(record, key)
        now = @repository.now
        note(now) do
          @activity&.ended(record, now)
          record.users.each { |user| @users.remove(user, key, seen: record.used) }
        end
      end

      # From now on no session that began before is anybody's: none comes back from where it is kept as well.
      # @return [void]
      def log_out_all
        note_logout(LOGOUT)
      end

      # The same for the sessions of a user, where this program cannot know what is kept as well.
      #
      # @param user [String]
      # @return [void]
      def log_out(user)
        life = [@repository.lifetimes.idle, @repository.lifetimes.max].compact.min
        note_logout("#{LOGOUT}/#{user}", Backends::Tombstones.beyond(life || Float::INFINITY))
      end

      # @param record [Record]
      # @return [Boolean] has one of its users, or everybody, been logged out since it began?
      def logged_out?(record)
        return false unless record.user?

        backend = @repository.backend
        at = backend.read(LOGOUT) || backend.reload(LOGOUT)
        times = [at, *record.users.map { |user| backend.read("#{LOGOUT}/#{user}") }]
        times.compact.any? { |time| record.began <= time.to_i }
      end

      # @param since [Integer] Unix seconds
      # @return [Boolean] has everybody been logged out since, or in that second?
      def everybody_out?(since:)
        at = @repository.backend.read(LOGOUT)
        !at.nil? && since <= at.to_i
      end

      # Makes the counts of activity anew, where a process died that was changing them.
      #
      # @return [Thread, nil] that is counting
      def look_after_the_dead
        @processes&.look(@repository.now) { recount }
      end

      # Makes the counts of activity anew.
      # @return [void]
      def recount
        @activity.recount do |count|
          @repository.each_key { |key| (record = @repository.record(key)) && count.call(record) }
        end
      end

      # Signs this process off that has changed the counts.
      # @return [void]
      def leave
        @processes&.unregister
      end

      private

      def note_logout(name, life = nil)
        pin = true
        ATTEMPTS.times do
          outcome = note_time(name, life, pin)
          return if outcome == :stored

          pin = false if outcome == :full # a note that may be evicted is better than none
        end
        raise Error, "#{@repository.backend} took no note of the logout: nobody was logged out, try again"
      end

      def note_time(name, life, pin)
        backend = @repository.backend
        bytes = backend.read(name)
        now = @repository.now.to_s
        bytes ? backend.swap(name, bytes, now, life, pin: pin) : backend.add(name, now, life, pin: pin)
      end

      def note(now)
        @processes&.register
        @settings&.keep(@repository.backend.cache, now)
        yield
      rescue ::Larder::Error => error
        @report.call(error)
      end
    end
  end
end
