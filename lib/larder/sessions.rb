# frozen_string_literal: true

# The methods that applications call: to configure sessions, and to ask who is signed in and how many there are. Needs
# no Rack.

require_relative "../larder"
require_relative "sessions/configuration"
require_relative "sessions/repository"
require_relative "sessions/statistics"

module Larder
  # Sessions in a file of Larder's or in any ActiveSupport store, and questions about them.
  #
  # Users are models, ids of a User, or names of others ("Admin/7"), see {Identity}. A session may have several users,
  # and is found by each of them. Questions are about the sessions of the current request; outside of requests, about
  # those of the first middleware of this process; in a console or a job, about those that Rails is configured with.
  # {use} selects others. Answers come from counters and an index in the file, or in the store of `cache:`: `active` and
  # `logged_in?` read a few entries, whatever the number of sessions. With `cache:`, any method raises
  # {UnavailableError} if the store does not answer.
  #
  # @example
  #   Larder::Sessions.active(last: 5.minutes)        #=> 214
  #   Larder::Sessions.logged_in?(user)               #=> true
  #   Larder::Sessions.logout(user, except: session)  #=> 2
  module Sessions
    autoload :Authentication, "larder/sessions/authentication"

    # The environment of a fiber's current request, and the Statistics of its sessions.
    REQUEST = :larder_sessions_request
    private_constant :REQUEST

    class << self
      # Counts and gauges: `:sessions`, `:signed_in` and `:anonymous` that are alive, `:active_1m`, `:active_5m`,
      # `:active_1h`, `:active_1d`, `:pinned_bytes` of the `:pinned_room_bytes` for signed-in sessions, how
      # `:full` that is (0 to 1), and `:evictions`. With `cache:`, those of `:active_1m` to `:active_1d` alone.
      #
      # @return [Hash{Symbol => Integer, Float}]
      # @raise [UnsupportedError] a store of the application's own has no counters
      def stats
        statistics.stats
      end

      # How many sessions were used recently. Exact to a minute; beyond 2 hours to an hour, beyond 3 days to a day. Some
      # anonymous sessions may have been evicted since.
      #
      # With `cache:` nothing corrects the counters of the store. A session counts where it was last used, also if it
      # has expired, was evicted, or has ended by {logout_all}. A change whose counters could not be reached, or a
      # process that was killed in between, makes a counter wrong by one, until that time is asked for no longer.
      #
      # @param last [Numeric, ActiveSupport::Duration] seconds
      # @param signed_in [Boolean, nil] only signed-in sessions, or only anonymous ones; nil: all
      # @return [Integer]
      # @raise [InvalidArgument]
      # @raise [UnsupportedError] a store of the application's own has no counters
      def active(last:, signed_in: nil)
        statistics.active(last: last, signed_in: signed_in)
      end

      # The users who are signed in and were active recently. Reads every session, which takes some 2 s for 100,000: for
      # an administrator's page, not for every request. With `cache:` a Redis is read by SCAN and MGET, some hundred
      # sessions by a call.
      #
      # @example
      #   Larder::Sessions.online(last: 5.minutes) #=> { "User/42" => 2026-05-04 12:00:00, "Admin/7" => ... }
      #
      # @param last [Numeric, ActiveSupport::Duration] seconds, to a minute
      # @param limit [Integer, nil] users, nil: all
      # @return [Hash{String => Time}] names, see {Identity}, with the time of the last use, the newest first
      # @raise [InvalidArgument]
      # @raise [UnsupportedError] the store of `cache:` cannot list its sessions: any but a Redis
      def online(last: 300, limit: 100)
        statistics.online(last: last, limit: limit)
      end

      # @param user [Object] a model, the id of a User, or a name
      # @return [Boolean]
      # @raise [InvalidArgument]
      def logged_in?(user)
        statistics.logged_in?(user)
      end

      # @param user [Object] a model, the id of a User, or a name
      # @return [Time, nil] of the last use of any of the user's sessions, to a minute; nil: not known
      # @raise [InvalidArgument]
      def last_seen(user)
        statistics.last_seen(user)
      end

      # @param user [Object] a model, the id of a User, or a name
      # @return [Array<Info>] the user's sessions, the last used first
      # @raise [InvalidArgument]
      def for(user)
        statistics.for(user)
      end

      # Ends one session of a user. For a minute after the session was renewed, its former handle ends it, too.
      #
      # @example
      #   Larder::Sessions.revoke(params[:handle], of: current_user)
      #
      # @param handle [String] from {Info#handle} or {handle_of}
      # @param of [Object] a model, the id of a User, or a name: a session of another user does not end. By default a
      #   session of any user ends
      # @return [Boolean] true if there was such a session
      # @raise [InvalidArgument] of: is not a user, such as nil
      def revoke(handle, of: Statistics::ANYBODY)
        statistics.revoke(handle, of: of)
      end

      # Ends a user's sessions. Running requests cannot store them again. A model with Devise's `rememberable` is
      # forgotten as well: otherwise its cookie would sign the user in again.
      #
      # @param user [Object] a model, the id of a User, or a name
      # @param except [String, #id, nil] a handle, or a request's `session`, that is not ended
      # @return [Integer] how many were ended
      # @raise [InvalidArgument]
      def logout(user, except: nil)
        begin
          forget(user)
        ensure # the sessions end also if the database is down
          ended = statistics.logout(user, except: except)
        end
        ended
      end

      # Ends all signed-in sessions; anonymous ones go on. Running requests cannot store them again. A user who signs in
      # from then on is signed in.
      #
      # In a file it reads every session. With `backed_by:`, sessions that the file has lost end, too. With `cache:` it
      # writes one number to the store, with which all machines compare the sessions that they read: these have ended at
      # once. Their entries stay in the store until they expire.
      #
      # @return [Integer, nil] how many were ended in the file; nil: not known, with `cache:`
      # @raise [UnavailableError] the store of `cache:` did not take the number: call it again
      def logout_all
        statistics.logout_all
      end

      # Ends all anonymous sessions. Reads every session. A user who signs in at that moment may have to repeat it,
      # unless the sign-in gives the session another id.
      #
      # @return [Integer] how many were ended
      # @raise [UnsupportedError] the store of `cache:` cannot list its sessions: any but a Redis
      def clear_anonymous
        statistics.clear_anonymous
      end

      # Sets who is signed in, if neither the session's `user_id` nor Warden tells it. It ends with the session.
      #
      # @example
      #   Larder::Sessions.bind(user)
      #   Larder::Sessions.bind(user, admin)     # both are signed in
      #   Larder::Sessions.bind(7, as: "Guest")  # "Guest/7"
      #
      # @param users [Array<Object>] models, or ids; nil: nobody is signed in any more
      # @param as [Class, String, nil] the class that ids are of; nil: User
      # @param env [Hash] of the request, if the call is made in another fiber
      # @return [void]
      # @raise [InvalidArgument]
      # @raise [Error] outside of a request
      def bind(*users, as: nil, env: Thread.current[REQUEST]&.first)
        raise Error, "bind is called outside of a request that has Larder's sessions: pass env: request.env" unless env
        raise InvalidArgument, "bind whom? Give users, or nil where nobody is signed in any more" if users.empty?

        env[Middleware::BOUND] = users.compact.map { |user| Identity.in_session(user, as: as) }.uniq
        env[Rack::RACK_SESSION]&.update({}) # what is neither read nor written is not kept
      end

      # If other requests have renewed the session in the last minute, this is its handle now.
      #
      # @param session [#id] a request's
      # @return [String, nil] its handle, nil: nobody is signed in
      def handle_of(session)
        statistics.handle_of(session)
      end

      # Counts activity again by reading every session. Questions have Larder do so once an hour.
      #
      # @return [void]
      # @raise [UnsupportedError] with `cache:`
      def recount
        statistics.recount
      end

      # Makes a Repository from the user's options, see {Configuration}.
      #
      # @return [Repository] each use of it raises {OpenError} while its file cannot be opened
      # @raise [InvalidArgument] naming the option
      # @raise [OpenError] a file cannot have that size
      def repository(**options)
        Configuration.new(**options).repository
      end

      # Selects the sessions that questions are about: in the block, or without a block outside of requests.
      #
      # @param repository [Repository, nil] nil: that of the next middleware, or of Rails' configuration
      # @yieldreturn [Object]
      # @return [Object] the block's
      # @example
      #   back_office = Larder::Sessions.repository(file: "storage/back_office.larder", ephemeral: true)
      #   Larder::Sessions.use(back_office) { Larder::Sessions.logout(user) }
      def use(repository, &block)
        statistics = repository && Statistics.new(repository)
        return @statistics = statistics unless block

        during(Thread.current[REQUEST]&.first, statistics, &block)
      end

      # Uses a middleware's Statistics if there are none yet, or if it replaces those in use.
      #
      # @api private
      # @param statistics [Statistics]
      # @param before [Statistics, nil] that of the same middleware
      # @return [void]
      def offer(statistics, before = nil)
        @statistics = statistics if @statistics.equal?(before) || @statistics.nil?
      end

      # @api private
      # @param env [Hash, nil] of a request
      # @param statistics [Statistics, nil] of its sessions
      # @yieldreturn [Object]
      # @return [Object] the block's
      def during(env, statistics)
        before = Thread.current[REQUEST]
        Thread.current[REQUEST] = [env, statistics]
        yield
      ensure
        Thread.current[REQUEST] = before
      end

      # Those that questions are about. Configures none.
      #
      # @api private
      # @return [Statistics, nil] nil: the process has used no sessions yet
      def current
        Thread.current[REQUEST]&.last || @statistics
      end

      # @api private
      # @return [Hash, nil] the env of the current request
      def request
        Thread.current[REQUEST]&.first
      end

      # @api private
      # @return [Statistics, nil] those that questions are about; nil: no sessions are configured
      # @raise [InvalidArgument] they are configured wrongly
      def statistics_if_configured
        statistics
      rescue NotConfiguredError
        nil
      end

      private

      # Devise accepts a cookie that is newer than remember_created_at, and none if that is nil. `forget_me!` alone does
      # not clear it if `expire_all_remember_me_on_sign_out` is off.
      def forget(user)
        return unless user.respond_to?(:forget_me!) && user.respond_to?(:remember_created_at=)
        return if user.frozen? # it was destroyed

        user.remember_created_at = nil
        user.remember_created_at_will_change! # it may have been loaded before another request set it
        user.forget_me!
      end

      def statistics
        current || use(configured)
      end

      # Rails makes its middleware with the first request; a console or a job has none.
      def configured
        config = Rails.application&.config if defined?(Rails) && Rails.respond_to?(:application)
        options = config.session_options if config&.session_store.to_s == "ActionDispatch::Session::LarderStore"
        raise NotConfiguredError unless options

        repository(**Configuration.split(options).first)
      end
    end
  end
end
