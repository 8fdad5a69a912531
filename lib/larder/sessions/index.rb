# frozen_string_literal: true

# Keeps what is known about sessions besides them: the sessions of each user, and how many sessions there are.

require_relative "activity"
require_relative "logouts"
require_relative "recounts"
require_relative "room"
require_relative "settings"
require_relative "users"

module Larder
  module Sessions
    # The {Repository} calls it for each change of a session. It counts them, too, unless a store has no counters. An
    # error of the index is reported and ends no session, with one exception: a sign-in fails if the user's entry cannot
    # be written.
    class Index
      include Logouts

      # @return [Users]
      attr_reader :users
      # @return [Activity, nil] nil: the backend has no counters
      attr_reader :activity

      # @param backend [Backends::File, Backends::Store, Backends::Backed]
      # @param lifetimes [Lifetimes]
      # @param per_user [Integer, nil] sessions that a user may have at a time
      # @param report [#call] called with each Error
      # @param clock [#call] Unix seconds
      def initialize(backend, lifetimes:, per_user:, report:, clock:)
        @backend = backend
        @lifetimes = lifetimes
        @report = report
        @clock = clock
        @users = Users.new(@backend, idle: lifetimes.idle, max: per_user, clock: clock)
        counters = @backend.counters
        @activity = Activity.new(counters, lifetimes) if counters
        return unless @backend.respond_to?(:cache)

        @recounts = Recounts.new(@backend.cache, report: report, clock: clock)
        @room = Room.new(@backend.cache, report: report)
      end

      # Writes the {Settings} into the file at its first use. If it had others, sessions were counted by other ends.
      #
      # @return [void]
      def announce
        return unless @recounts

        @settings = Settings.new(@backend.cache, lifetimes: @lifetimes, backed_by: @backend.behind)
        @backend.cache.when_attached { @recounts.doubt if @settings.write }
      end

      # @return [Boolean] may one more sign in?
      def room_for_sign_in?
        @room.nil? || @room.for_sign_in?
      end

      # @raise [NoRoomError] after reporting it
      def full
        error = NoRoomError.new(@backend)
        @report.call(error)
        raise error
      end

      # Runs the block, which stores or deletes a session, and corrects the counts. If an exception comes in between,
      # they are doubtful.
      #
      # @param before [Record, nil] the session as it was, nil: there was none
      # @param after [Record, nil] the session as it will be, nil: none
      # @yieldreturn [Symbol] :stored, or another if nothing has changed
      # @return [Symbol] the block's
      def counting(before, after, &store)
        @activity && (before || after) ? counted(before, after, &store) : yield
      end

      # Corrects the counts in a thread if they are doubtful, see {Recounts}.
      #
      # @yieldreturn [Enumerable<Record>] all sessions
      # @return [Thread, nil]
      def repair_counts
        @recounts&.look { @activity.recount(yield, now: @clock.call) }
      end

      # Corrects the counts, after another process that does so.
      #
      # @yieldreturn [Enumerable<Record>] all sessions
      # @return [void]
      # @raise [UnsupportedError] they are in a store
      def recount
        unless @recounts
          raise UnsupportedError, "recount is for sessions in a file. The counters of #{@backend} are not corrected: " \
                                  "what is wrong in them is over when they expire"
        end

        @recounts.recount { @activity.recount(yield, now: @clock.call) }
      end

      # @yield writes to the index
      # @return [Boolean] false: it failed, which is reported
      def reporting
        yield
        true
      rescue ::Larder::Error => error
        @report.call(error) unless error.is_a?(NoRoomError) # which was reported
        false
      end

      private

      def counted(before, after)
        reporting { @settings&.keep }
        outcome = yield
        sure = outcome != :stored || reporting { @activity.moved(before, after) }
        outcome
      rescue Error
        sure = true # the backend has refused it
        raise
      ensure
        @recounts&.doubt unless sure
      end
    end
  end
end
