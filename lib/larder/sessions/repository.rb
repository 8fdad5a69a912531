# frozen_string_literal: true

# Finds, stores, changes, renews and ends sessions, correctly also when requests overlap. Knows neither Rack nor Rails.
# A backend stores the bytes.

require_relative "backends/file"
require_relative "changeset"
require_relative "format"
require_relative "identity"
require_relative "lifetimes"
require_relative "once"
require_relative "record"
require_relative "entries"
require_relative "index"
require_relative "id_rotation"

module Larder
  # Sessions that are right under concurrency, see {Repository}.
  module Sessions
    # Finds, keeps and ends sessions by their keys, which are digests of their ids, of {Users::KEY} bytes.
    #
    # - An unchanged session is not written. Its last use is, once a minute at most.
    # - A change is applied to the session as other requests have left it. Changes of different keys are all kept.
    # - An ended session stays ended: a slower request that had found it before writes nothing.
    # - A session enters the {Index} of its users before it is stored, and is pinned: eviction leaves it.
    class Repository
      include Entries
      include IdRotation

      # Attempts of a compare-and-swap.
      ATTEMPTS = 100
      # The names of sessions in the backend begin with this.
      PREFIX = Backends::Single::SESSIONS
      private_constant :ATTEMPTS

      # A session as a request found it. bytes: as stored; values: for the request to change.
      Found = Struct.new(:key, :bytes, :record, :values)

      # @return [Backends::File, Backends::Store, Backends::Backed]
      attr_reader :backend
      # @return [Lifetimes]
      attr_reader :lifetimes
      # @return [Index]
      attr_reader :index
      # @return [#load]
      attr_reader :format
      # @return [Boolean] are there sessions in another store that are moved here (migrate_from:)?
      attr_reader :migrating

      # @param backend [#read, #add, #swap, #delete, #reload] see {Backends::File}
      # @param format [#dump, #load, #convert] see {Format}
      # @param lifetimes [Lifetimes]
      # @param user [#call] answers the names of those who are signed in, for values; see {Identity.finder}
      # @param per_user [Integer, nil] sessions that a user may have at a time: the oldest of more end
      # @param hint [#call, nil] told of the values of sessions in which nobody is signed in, see {SignInHint}
      # @param migrating [Boolean] there are sessions in another store that are moved here
      # @param report [#call] told of what went wrong, as an Error
      # @param clock [#call] Unix time; Time.now, so that tests which travel in time move the timeouts of sessions, too
      def initialize(backend:, format:, lifetimes: Lifetimes.new, user: Identity.method(:in_values), per_user: nil,
                     hint: nil, migrating: false, report: ->(_error) {}, clock: -> { Time.now })
        @backend = backend
        @format = format
        @lifetimes = lifetimes
        @user = user
        @hint = hint
        @migrating = migrating
        @report = report.to_proc
        left_out = Once.new(@report)
        @left_out = ->(error) { left_out.call(error.about) { error } }
        @clock = clock
        @index = Index.new(backend, lifetimes: lifetimes, per_user: per_user, report: report, clock: method(:now))
      end

      # @return [Integer] Unix seconds
      def now
        @clock.call.to_i
      end

      # @param key [String]
      # @return [Found, nil] nil: there is none, it has ended, or it cannot be read, which is reported
      # @raise [UnavailableError] the store cannot tell
      def find(key)
        name = PREFIX + key
        found_copy(key, name) || found_stored(key, name)
      rescue UnreadableError => error
        @report.call(error)
        nil
      end

      # @param values [Hash{String => Object}]
      # @param bound [Array<String>, nil]
      # @return [Boolean] does a session with them have a user?
      def signed_in?(values, bound)
        bound&.any? || @user.call(@format.convert(values)).any?
      end

      # A session without its values.
      #
      # @param key [String]
      # @return [Record, nil] nil: there is none, or it has ended
      # @raise [UnavailableError] the store of `cache:` cannot tell
      def record(key)
        alive(@backend.read(PREFIX + key) || restored_if_answered(key))
      end

      # Stores a new session.
      #
      # @param key [String]
      # @param values [Hash{String => Object}]
      # @param bound [Array<String>, nil] who was bound to it, beside those whom its values tell
      # @param life [Integer, nil] its own lifetime, see {Record#life}
      # @param awaited [Boolean] see {Record#awaited?}
      # @return [Boolean] false: it could not be kept
      # @raise [NoRoomError] somebody signs in, and there is no room
      # @raise [UnavailableError] the store has not taken it
      def begin(key, values, bound: nil, life: nil, awaited: false)
        values = @format.convert(values, &@left_out)
        all = (bound || []) | users(values, bound || [], said: !bound.nil?)
        start(Record.of(**@index.beginning(all), used: now, values: @format.dump(values), users: all,
                        bound: bound || [], life: life, awaited: awaited), key)
      end

      # Notes that a request has brought the cookie of a session that was moved here.
      #
      # @param found [Found]
      # @return [Found] the same session
      def arrived(found)
        record = found.record.with(used: found.record.used, awaited: false)
        return found unless replace(found, record) == :stored

        Found.new(found.key, record.to_bytes, record, found.values)
      end

      # @param values [Hash{String => Object}] of a session of another store
      # @return [Boolean] was one of its users, or everybody, logged out, as far as there are notes?
      def logged_out?(values)
        users = @user.call(@format.convert(values))
        users.any? && @index.logout_noted?(users)
      end

      # Stores what a request has changed.
      #
      # @param found [Found]
      # @param values [Hash{String => Object}]
      # @param bound [Array<String>, nil] who is bound to it from now on; nil: who was
      # @param life [Integer, nil, false] its own lifetime from now on, see {Record#life}; false: as before
      # @return [Boolean] false: it has ended since, or could not be kept; if a user signs out, it ends then
      # @raise [NoRoomError] somebody is signed in, or signs in, and there is no room
      # @raise [UnavailableError] the store has not taken it
      def commit(found, values, bound: nil, life: false)
        said = (!bound.nil? && bound != found.record.bound) || (life != false && life != found.record.life)
        return use(found) if !said && @format.unchanged?(values, found.record.values)

        values = @format.convert(values, &@left_out)
        change = Changeset.between(@format.load(found.record.values), values, @format)
        return use(found) if change.none? && !said

        life = found.record.life if life == false
        after = changed(found.record, values, bound, life)
        ending_sign_outs(found, after) do
          outcome = swap(found, after)
          outcome == :changed ? apply(change, found.key, bound, life) : outcome
        end
      end

      # Ends a session, also for requests that are using it, and also if it was renewed in the last minute.
      # @param key [String]
      # @return [Boolean] was there one?
      def end(key)
        begun = false
        bytes = @backend.read(PREFIX + key)
        record = bytes && Record.parse(bytes)
        moved = record&.moved? # by a process that was killed before it deleted this
        over = record && @lifetimes.over?(record, now) # and still stored, as the clocks of machines differ
        outcome = counting((record unless moved), nil, key) do
          begun = true
          @backend.delete(PREFIX + key) && !moved ? :stored : :gone
        end
        end_successors(key) || (outcome == :stored && !over)
      rescue DamagedError => error
        begun = true
        @report.call(error) # this process cannot use the file, and finds no session in it either
        false
      rescue UnavailableError
        begun = true
        @backend.end_later(PREFIX + key) # under the keys that it has got since, too
        @backend.delete(PREFIX + key)
      ensure
        @backend.delete(PREFIX + key) unless begun # another thread's exception came while the store was read
      end

      # Ends a session unless somebody has signed in in it meanwhile.
      # @param key [String]
      # @return [Boolean] was there one?
      def end_anonymous(key)
        ATTEMPTS.times do
          found = again(key)
          return false if found.nil? || found.record.user?

          outcome = take(found)
          return outcome == :stored unless outcome == :changed
        end
        false
      end

      private

      def alive(bytes)
        record = bytes && Record.parse(bytes)
        record unless record.nil? || record.moved? || @lifetimes.over?(record, now)
      end

      # Whatever a copy tells but that there is a session may be old.
      def found_copy(key, name)
        bytes = @backend.read_copy(name)
        record = bytes && parse(bytes)
        found(key, bytes, record) unless record.nil? || record.moved? || @lifetimes.over?(record, now)
      end

      def found_stored(key, name)
        bytes = @backend.read(name) || restored(key)
        record = bytes && parse(bytes)
        return if record.nil? || record.moved?
        return over(key) if @lifetimes.over?(record, now)

        found(key, bytes, record)
      end

      # A sign-out that could not be stored ends the session, also if another request has renewed its id.
      #
      # @return [Boolean] the block's
      # @raise [UnavailableError] the store has not taken the change, unless that only signs users out
      def ending_sign_outs(found, after)
        signs_out = (found.record.users - after.users).any?
        outcome = yield
        self.end(found.key) if !outcome && signs_out
        outcome
      rescue UnavailableError
        raise unless signs_out

        self.end(found.key)
        raise if after.user?

        false
      end

      def found(key, bytes, record)
        Found.new(key, bytes, record, @format.load(record.values, &@left_out))
      end

      # @param instead [String, nil] the key of a session that is about to end
      # @param sign_in [Boolean] see {Entries#admit}
      def start(record, key, instead: nil, sign_in: true)
        return false unless admit(record, key, instead: instead, sign_in: sign_in)

        begun = true
        outcome = counting(nil, record, key) do
          @backend.add(PREFIX + key, record.to_bytes, @lifetimes.left(record, now), pin: record.user?)
        end
        outcome == :stored ? still_admitted?(record, key) : refused(outcome)
      rescue UnavailableError
        @backend.delete(PREFIX + key) if begun && record.user? # no client gets its id
        raise
      end

      def parse(bytes)
        Record.parse(bytes) || raise(UnreadableError, "a session is kept in a form that this version does not know")
      end

      def end_successors(key)
        successors(key).map { |other| self.end(other) }.any?
      rescue UnavailableError
        @backend.end_later(PREFIX + key)
        false
      end

      def over(key)
        self.end(key)
        nil
      end

      # The file answers a question about a session that the store of backed_by: cannot restore now.
      def restored_if_answered(key)
        restored(key)
      rescue UnavailableError
        nil
      end

      # A session that the file has lost, from the store of backed_by:.
      def restored(key)
        bytes = @backend.reload(PREFIX + key)
        record = bytes && Record.parse(bytes)
        return if record.nil? || record.moved? || @lifetimes.over?(record, now)
        return if @index.logged_out?(record, key, reload: true)
        return unless readmitted?(record, key)

        outcome = counting(nil, record, key) do
          @backend.restore(PREFIX + key, bytes, @lifetimes.left(record, now), pin: record.user?)
        end
        return @backend.read(PREFIX + key) if %i[changed gone].include?(outcome)
        return over(key) if @index.logged_out?(record, key) # meanwhile

        bytes
      end

      # A read does not fail because the file is full.
      def readmitted?(record, key)
        admit(record, key)
      rescue NoRoomError
        false
      end

      # Writes the time of the use. A failure is harmless: the next use writes it.
      def use(found)
        return true if now < found.record.used + @lifetimes.used_every(found.record)

        record = found.record.with(used: now)
        keep(record, found.key)
        replace(found, record) != :gone
      rescue UnavailableError
        true
      end

      # Applies a change to the session as it is now.
      def apply(change, key, bound, life)
        ATTEMPTS.times do
          before = again(key)
          return false unless before

          after = changed(before.record, change.applied_to(@format.load(before.record.values)), bound, life)
          outcome = swap(before, after)
          return outcome if outcome != :changed
        end
        refused(:refused)
      rescue UnreadableError => error
        @report.call(error)
        false
      end

      # @return [Boolean, Symbol] true, false, or :changed
      def swap(before, after)
        newly = after.users - before.record.users
        return false unless admit(after, before.key, newly, sign_in: !before.record.user?)

        keep(after, before.key, after.users - newly)
        outcome = replace(before, after)
        return outcome if outcome == :changed
        return refused(outcome) unless outcome == :stored

        newly.empty? || still_admitted?(after, before.key)
      end

      # @return [Symbol] as the backend's swap
      def replace(before, after)
        counting(before.record, after, before.key) do
          @backend.swap(PREFIX + before.key, before.bytes, after.to_bytes, @lifetimes.left(after, now),
                        pin: after.user?)
        end
      end

      def changed(record, values, bound, life)
        found = users(values, bound || record.bound, said: !bound.nil?)
        after = record.with(used: now, values: @format.dump(values), users: found, bound: bound || record.bound,
                            life: life)
        newly = after.users - record.users
        return after if newly.empty?
        return after.with(used: now, **@index.beginning(newly)) unless after.users.intersect?(record.users)

        began = @index.beginning_after_logout(newly, since: record.began) # a logout from before does not end it
        began ? after.with(used: now, began: began) : after
      end

      # @param said [Boolean] by the request, not by an earlier one
      def users(values, bound, said:)
        found = @user.call(values)
        @hint&.call(values, bound: said) if found.empty? && bound.empty?
        found
      end

      def again(key)
        bytes = @backend.read(PREFIX + key)
        record = bytes && parse(bytes)
        Found.new(key, bytes, record) unless record.nil? || record.moved?
      end

      # A logout of one of its users may have come between the index entry and the session. If another user has signed
      # in in it meanwhile, the session stays, as theirs.
      def still_admitted?(record, key)
        return true if admitted?(record.users, key)

        now = record(key)
        return true if now && admitted?(now.users, key)

        self.end(key)
        false
      end

      def refused(outcome)
        @index.full if outcome == :full
        false
      end
    end
  end
end
