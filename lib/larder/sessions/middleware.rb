# frozen_string_literal: true

# What the session middleware of Rack and Rails share: which session a request has found, when it is stored, and
# under which id. Concurrency is the Repository's concern.

require "digest"
require_relative "../sessions"
require_relative "nesting"
require_relative "removals"

module Larder
  module Sessions
    # For subclasses of Rack::Session::Abstract::PersistedSecure that say in SAME_SITE what cookies are by default.
    # Keys are digests of ids, so the store holds no id that opens a session. An unknown id is never adopted.
    module Middleware
      # Keys of the env. The Repository::Found; the users that were bound; during a commit, the Found that gets another
      # id, or false where there is none.
      FOUND = "larder.session.found"
      BOUND = "larder.session.bound"
      RENEWED = "larder.session.renewed"
      # The key of a session that this request has ended.
      ENDED = "larder.session.ended"
      # The key of a session that was not found, and the keys that the request has removed from it, nil: all.
      GONE = "larder.session.gone"
      REMOVED = "larder.session.removed"
      # The UnavailableError of a session that was asked for.
      UNAVAILABLE = "larder.session.unavailable"
      # All of them are those of one session.
      STATE = [FOUND, BOUND, RENEWED, ENDED, GONE, REMOVED, UNAVAILABLE].freeze
      # Seconds after which a client may repeat a request that was answered with 503.
      RETRY_AFTER = "1"

      # @param id [Rack::Session::SessionId]
      # @return [String] what the session is kept under: the digest of its id
      def self.key(id)
        Digest::SHA256.digest(id.public_id)
      end

      # @return [Repository]
      attr_reader :repository

      # @param app [#call]
      # @param options [Hash] those of {Sessions.repository}, and Rack's own
      # @raise [InvalidArgument]
      def initialize(app, options = {})
        own, racks = Configuration.split(options)
        racks[:key] = Configuration.name_of_cookie(racks[:key]) if racks.key?(:key)
        @configuration = Configuration.new(**own)
        keep_by(@configuration.repository)
        super(app, { same_site: self.class::SAME_SITE, **racks })
        @migration = @configuration.migration(@key)
        @nested = Once.new(Configuration.method(:report))
      end

      # @param env [Hash]
      # @param app [#call]
      # @return [Array]
      def context(env, app = @app)
        body = nil
        own = ->(same) { Nesting.outside(same, @nested) { app.call(same).tap { |response| body = response[2] } } }
        Nesting.inside(env, STATE) do
          response = Sessions.during(env, @statistics) { super(env, own) }
          raise env[UNAVAILABLE] if env[UNAVAILABLE] && response[0] >= 500 # the application's page for any error

          response
        end
      rescue NoRoomError, UnavailableError => error
        body.close if body.respond_to?(:close) # of the response that is not sent
        refusal(error, env)
      end

      # @return [Array(Rack::Session::SessionId, Hash)]
      # @raise [UnavailableError] the store cannot tell whether there is a session
      def find_session(request, sid)
        key = sid && Middleware.key(sid)
        found = key && @repository.find(key)
        sid, found = migrated(request, sid, found) if @migration && sid
        request.set_header(FOUND, found)
        request.set_header(GONE, key) unless key.nil? || found || key == request.get_header(ENDED)
        keep_lifetime(request, found) if found&.record&.life
        found ? [sid, found.values] : [generate_sid, {}]
      rescue UnavailableError => error
        request.set_header(UNAVAILABLE, error)
        raise
      end

      # @return [Rack::Session::SessionId, false] false: it has ended meanwhile, or could not be kept
      def write_session(request, sid, values, options)
        found = request.get_header(FOUND)
        renewed = request.delete_header(RENEWED)
        key = Middleware.key(sid)
        own = { bound: request.get_header(BOUND), life: @repository.lifetimes.own(options, @default_options) }
        kept = if renewed then @repository.renew(renewed, key, values, **own)
               elsif found&.key == key then @repository.commit(found, values, **own)
               else begin_session(request, key, values, own)
               end
        kept ? sid : false
      end

      # Also ends a session that had this id before it was renewed.
      #
      # @return [Rack::Session::SessionId, nil] another id, nil with the option drop
      def delete_session(request, sid, options)
        return generate_sid if request.has_header?(RENEWED)

        sid, = find_session(request, sid) if @migration && !request.has_header?(FOUND) # it may be in the other store
        gone = request.delete_header(GONE)
        @repository.end(gone) if gone
        @repository.end(Middleware.key(sid))
        request.set_header(ENDED, Middleware.key(sid))
        found = request.get_header(FOUND)
        forget_lifetime(options, found) if found&.record&.life
        [FOUND, BOUND, REMOVED].each { |name| request.delete_header(name) }
        generate_sid unless options[:drop]
      end

      # A session that keeps its id and cookie is stored at once. A renewed session ends under its old id when it is
      # stored under the new one; here, if it is not stored.
      # @return [void]
      def commit_session(request, response)
        session = request.get_header(Rack::RACK_SESSION)
        sign_out_with_former_id(request, session) if request.has_header?(GONE)
        found = request.get_header(FOUND)
        return keep(request, session, found) if found && stays?(request, session)

        options = session.options
        return if unused?(request, session, options)
        return super unless options[:renew] && !options[:drop]

        renew(request, session)
        super
        left = request.delete_header(RENEWED)
        @repository.end(left.key) if left
      end

      # Notes that a request removes keys from a session that was not found.
      #
      # @api private
      # @param request [Rack::Request]
      # @param keys [Array<String>, nil] nil: all
      # @return [void]
      def note_removal(request, keys)
        return unless request.has_header?(GONE)

        before = request.get_header(REMOVED)
        request.set_header(REMOVED, keys && [*before, *keys]) if before || !request.has_header?(REMOVED)
      end

      # Uses another file from now on, see Larder::ParallelTests.
      #
      # @api private
      # @yieldparam path [String] of the file
      # @yieldreturn [String] of the other
      def work_apart
        backend = @repository.backend
        keep_by(@configuration.repository(yield(backend.cache.path))) if backend.respond_to?(:cache)
      end

      private

      def refusal(error, env)
        return unserved("The session store does not answer. Try again.\n") if error.is_a?(UnavailableError)

        @configuration.on_full ? @configuration.on_full.call(make_request(env)) : full(error)
      end

      def unserved(text)
        [503, { "content-type" => "text/plain", "content-length" => text.bytesize.to_s,
                "retry-after" => RETRY_AFTER, "cache-control" => "no-store" }, [text]]
      end

      # The response where the file is full and on_full: is not set.
      def full(error)
        raise error
      end

      # True if it is only loaded to send its cookie again, while the store cannot tell whether there is a session.
      def unused?(_request, session, options)
        return false if options[:renew] || options[:drop] || !session.respond_to?(:loaded?) || session.loaded?

        force_options?(options) && session.empty?
      rescue UnavailableError
        true
      end

      def keep_by(repository)
        repository.index.announce
        before = @statistics
        Sessions.offer(@statistics = Statistics.new(repository), before)
        @repository = repository
      end

      # Does the session keep its id and cookie? Then Rack would make a cookie, compare it, and not send it, which costs
      # more than to read and change the session.
      def stays?(request, session)
        return false unless session.respond_to?(:loaded?) && session.loaded?

        options = session.options
        return false if options[:skip] || options[:expires] || force_options?(options)

        security_matches?(request, options) && cookie_of(request) == session.id&.public_id
      end

      def keep(request, session, found)
        values = session.to_hash.delete_if { |_, value| value.nil? }
        return if @repository.commit(found, values, bound: request.get_header(BOUND), life: nil)

        request.get_header(Rack::RACK_ERRORS).puts("#{self.class.name}: the session has ended meanwhile, or could " \
                                                   "not be kept; what this request has changed in it is dropped.")
      end

      # A user who signs in gets another cookie: requests with the one from before are late.
      def begin_session(request, key, values, own)
        if @repository.signed_in?(values, own[:bound])
          before = cookie_of(request)
          @repository.replace_cookie(Digest::SHA256.digest(before)) if before.is_a?(String)
        end
        @repository.begin(key, values, **own)
      end

      # A request whose session got another id a moment ago finds none. If it signs its user out, and no user in, that
      # session ends.
      def sign_out_with_former_id(request, session)
        bound = request.get_header(BOUND)
        return unless request.has_header?(REMOVED) || bound&.empty?
        return if @repository.signed_in?(session.to_hash, bound)

        @repository.sign_out_successors(request.get_header(GONE), bound&.empty? ? nil : request.get_header(REMOVED))
      end

      # The browser of such a request has another cookie, which its answer must not replace, unless a user signs in.
      def late?(request, session)
        gone = request.get_header(GONE)
        return false if gone.nil? || @repository.signed_in?(session.to_hash, request.get_header(BOUND))

        return false unless @repository.cookie_replaced?(gone)

        request.get_header(Rack::RACK_ERRORS).puts("#{self.class.name}: the browser has got the cookie of a sign-in; " \
                                                   "what this request has stored in a session is dropped.")
        true
      end

      # Has the cookie, and what the request stores, live as long as an earlier request has said, unless this one says
      # otherwise.
      def keep_lifetime(request, found)
        options = request.get_header(Rack::RACK_SESSION_OPTIONS)
        options[lifetime_option] = found.record.life unless @repository.lifetimes.own(options, @default_options)
      end

      # The next session of the request has the lifetime that is configured.
      def forget_lifetime(options, found)
        options[lifetime_option] = @default_options[lifetime_option] if options[lifetime_option] == found.record.life
      end

      def lifetime_option
        @default_options[:max_age] ? :max_age : :expire_after
      end

      # The id that the client has.
      def cookie_of(request)
        request.cookies[@key]
      end

      # Loads the session, so that FOUND is set.
      def renew(request, session)
        session.to_hash
        request.set_header(RENEWED, request.get_header(FOUND) || false)
      end

      # A new session is stored if it has a value other than nil, or a user was bound to it.
      def commit_session?(request, session, _options)
        super && (request.get_header(FOUND) ||
                  ((session.to_hash.compact.any? || request.get_header(BOUND)&.any?) && !late?(request, session)))
      end

      # A cookie that is written each time, as it expires, does not replace that of a session which has been renewed,
      # or begun, while this request used one that has ended since.
      def set_cookie(request, response, cookie)
        found = request.get_header(FOUND) if cookie[:expires]
        super unless found && found.key == Digest::SHA256.digest(cookie[:value]) && @repository.record(found.key).nil?
      rescue UnavailableError
        nil # the client keeps the cookie that it has
      end

      # An id that is no String, as of a cookie "key[]=", is ignored.
      def extract_session_id(request)
        id = super || former_id(request)
        id if id&.public_id.is_a?(String)
      end

      def migrated(request, sid, found)
        found ? [sid, @migration.arrived(@repository, request, found)] : @migration.move(@repository, request, sid)
      end

      # The id in the cookie of the store that sessions are migrated from.
      def former_id(request)
        id = @migration && request.cookies[@migration.cookie]
        Rack::Session::SessionId.new(id) if id.is_a?(String) && !id.empty?
      end
    end
  end
end

if defined?(ActiveSupport)
  require_relative "../store/parallel_tests"
  Larder::ParallelTests.cover(Larder::Sessions::Middleware)
end
