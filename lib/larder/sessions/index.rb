# frozen_string_literal: true

# Owns what is known about sessions beside the sessions: whose they are, and when how many were used. The Repository
# tells it of each beginning, use and end.

require_relative "activity"
require_relative "process_registry"
require_relative "room"
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
        @room = Room.new(repository.backend.cache, report: report)
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
      # @param sign_in [Boolean] nobody was signed in before: the room that is reserved is not for this session
      # @return [Boolean] false: it could not be entered, and must not be stored
      # @raise [NoRoomError] reported already
      def admit(users, key, instead: nil, sign_in: false)
        full if sign_in && @room && users.any? && !@room.for_sign_in?
        users.all? { |user| enter(user, key, instead: instead) }
      end

      # @raise [NoRoomError] which is reported before
      def full
        error = NoRoomError.new(@repository.backend)
        @report.call(error)
        raise error
      end

      # Has the index name a session for as long as it lives from now on, before it is kept for so long. That it could
      # not is reported, and tried again with the next use.
      #
      # @param users [Array<String>]
      # @param key [String]
      # @return [void]
      def keep(users, key)
        users.each { |user| @users.keep(user, key) || admit([user], key) }
      rescue NoRoomError
        nil # it was reported
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
          (before.users - after.users).each do |user|
            @users.remove(user, key, seen: before.used)
            enter_again(user, key)
          end
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

      # The same for the sessions of a user, also of those that other machines have in their files.
      #
      # @param user [String]
      # @param except [Array<String>] the keys of a session that goes on
      # @return [void]
      def log_out(user, except: [])
        note_logout(of(user), life_of_notes, except)
      end

      # @param record [Record]
      # @param key [String]
      # @return [Boolean] has one of its users, or everybody, been logged out since it began, here or on another
      #   machine? True as well where other machines cannot be asked and `unknown` is
      def logged_out?(record, key, unknown: false)
        return false unless record.user?

        backend = @repository.backend
        names = [LOGOUT, *record.users.map { |user| of(user) }]
        elsewhere = backend.elsewhere(names)
        return true if elsewhere.nil? && unknown

        names.any? { |name| covered?(record, key, [backend.read(name), elsewhere&.fetch(name, nil)].compact) }
      end

      # A session that begins in the second of a logout, after it, counts from the next one: it is not taken for one of
      # those that were ended.
      #
      # @param users [Array<String>]
      # @return [Integer] Unix seconds at which a session begins now
      def beginning(users)
        backend = @repository.backend
        now = @repository.now
        return now unless users.any? && backend.copied?

        [LOGOUT, *users.map { |user| of(user) }].any? { |name| backend.read(name).to_i == now } ? now + 1 : now
      end

      # @param users [Array<String>]
      # @param since [Integer] Unix seconds
      # @return [Boolean] has one of them, or everybody, been logged out since, on every machine?
      def logout_noted?(users, since:)
        backend = @repository.backend
        backend.copied? && [LOGOUT, *users.map { |user| of(user) }].any? { |name| backend.read(name).to_i >= since }
      end

      # A session that a logout has left out goes on under another key.
      #
      # @param record [Record]
      # @param key [String]
      # @param other [String]
      # @return [void]
      def renamed(record, key, other)
        return unless record.user? && @repository.backend.copied?

        record.users.each { |user| leave_out(of(user), key, other) }
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

      def theirs?(key, user)
        record = @repository.record(key)
        !record.nil? && record.users.include?(user)
      end

      # @param beside [String, nil] the key of a session that is about to be stored
      def enter(user, key, instead: nil, beside: nil)
        left = []
        outcome, surplus = @users.add(user, key, instead: instead) do |other|
          other == beside || theirs?(other, user) || !left.push(other)
        end
        surplus.each { |other| @repository.end(other) }
        full if outcome == :full
        left.each { |other| enter_again(user, other, beside: key) }
        outcome == :stored
      end

      # A session that is the user's by now, and left the index when it was not yet, or no longer.
      def enter_again(user, key, beside: nil)
        return if !theirs?(key, user) || admitted?([user], key)

        @repository.end(key) unless enter(user, key, beside: beside)
      rescue NoRoomError
        @repository.end(key) # nobody is signed in whom the index does not know
      end

      # By the latest logout, in whatever note of it the session is not left out.
      def covered?(record, key, notes)
        at = notes.map(&:to_i).max
        !at.nil? && record.began <= at && notes.none? { |note| note.to_i == at && note.include?(key.unpack1("H*")) }
      end

      def of(user)
        "#{LOGOUT}/#{user}"
      end

      # Seconds, nil: for ever.
      def life_of_notes
        life = [@repository.lifetimes.idle, @repository.lifetimes.max].compact.min
        life && Backends::Tombstones.beyond(life)
      end

      def leave_out(name, key, other)
        backend = @repository.backend
        here = backend.read(name)
        note = here || backend.elsewhere([name])&.fetch(name, nil)
        return unless note&.include?(key.unpack1("H*"))

        after = "#{note} #{other.unpack1("H*")}"
        here ? backend.swap(name, here, after, life_of_notes, pin: true) : backend.add(name, after, life_of_notes)
      end

      # A note is the time, and the keys of sessions that go on.
      def note_logout(name, life = nil, except = [])
        pin = true
        ATTEMPTS.times do
          outcome = note_time(name, life, pin, except)
          return if outcome == :stored

          pin = false if outcome == :full # a note that may be evicted is better than none
        end
        raise Error, "#{@repository.backend} took no note of the logout: nobody was logged out, try again"
      end

      def note_time(name, life, pin, except)
        backend = @repository.backend
        bytes = backend.read(name)
        now = [@repository.now, *except.map { |key| key.unpack1("H*") }].join(" ")
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
