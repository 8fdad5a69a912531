# frozen_string_literal: true

# Moves the sessions of another store into Larder's while an application changes over.

require "digest"
require "openssl"
require "securerandom"
require_relative "errors"

module Larder
  module Sessions
    # Moves a session once, under a new id, at the first request that has the other store's cookie and no session of
    # Larder's.
    #
    # The new id is an HMAC of the old one under a secret of the file, so that concurrent requests with the old cookie
    # get the same session. An entry of the file marks the session as moved. The old cookie leads to the new session
    # until a request has brought the new cookie, because the first answers may not have set it, and for {GRACE} seconds
    # after that. Later it opens nothing, even if the other store still has the session, as one in cookies.
    #
    # Any logout that is noted is later than the sessions of the other store: those of the user are not moved.
    class Migration
      # The key of the secret, and the prefix of marks.
      SECRET = "migration"
      MARKS = "migrated/"
      # Seconds for which requests may still come with the old cookie.
      GRACE = 60
      # The name of the former store, for messages.
      STORE = "the store of migrate_from:"
      private_constant :SECRET, :MARKS, :GRACE, :STORE

      # Finds sessions of Rails' cookie store.
      class Cookies
        # @param key [String] name of the cookie
        def initialize(key)
          @key = key
        end

        # @return [String, nil] the old id
        def id(request, id)
          values(request, id)["session_id"]&.to_s
        end

        # @return [Hash]
        def values(request, _id)
          unless request.respond_to?(:cookie_jar)
            raise InvalidArgument, "migrate_from: :cookie_store is Rails' own; with Rack alone give a lambda"
          end

          values = request.cookie_jar.signed_or_encrypted[@key]
          values.is_a?(Hash) ? values : {}
        end

        # The mark prevents that the cookie is used again.
        # @return [void]
        def delete(_request, _id); end
      end

      # Finds sessions by the public methods of a session middleware.
      class Middlewares
        # @param middleware [#find_session, #delete_session]
        def initialize(middleware)
          @middleware = middleware
        end

        # @return [String]
        def id(_request, id)
          id.public_id
        end

        # A middleware answers with another id if it has no such session. The one of Dalli answers without an id if
        # memcached does not answer.
        #
        # @return [Hash]
        # @raise [UnavailableError]
        def values(request, id)
          found, values = Migration.asking { @middleware.find_session(request, id) }
          raise UnavailableError.new(STORE, "#{@middleware.class} has answered without an id") if found.nil?

          found.respond_to?(:public_id) && found.public_id == id.public_id && values ? values.to_h : {}
        end

        # @return [void]
        def delete(request, id)
          @middleware.delete_session(request, id, { drop: true })
        end
      end

      # Finds sessions in the table of the gem activerecord-session_store, whose middleware would insert a row for each
      # id that it does not know.
      class Table
        # What the table has as an id and no cookie may have.
        PRIVATE = /\A\d+::/
        private_constant :PRIVATE

        # @return [String]
        def id(_request, id)
          id.public_id
        end

        # @return [Hash]
        # @raise [UnavailableError]
        def values(_request, id)
          Migration.asking { row(id)&.data.to_h }
        end

        # @return [void]
        def delete(_request, id)
          row(id)&.destroy
        end

        private

        # Versions before 2.0 kept the ids of cookies.
        def row(id)
          model = ActionDispatch::Session::ActiveRecordStore.session_class
          return if id.public_id.match?(PRIVATE)

          model.find_by_session_id(id.private_id) || model.find_by_session_id(id.public_id)
        end
      end

      # Finds sessions by a lambda.
      class Callable
        # @param callable [#call] takes a request and the String in the cookie, answers a Hash or nil
        def initialize(callable)
          @callable = callable
        end

        # @return [String]
        def id(_request, id)
          id.public_id
        end

        # An error of the lambda fails the request.
        #
        # @return [Hash]
        def values(request, id)
          @callable.call(request, id.public_id).to_h
        end

        # The mark prevents that the lambda is called again.
        # @return [void]
        def delete(_request, _id); end
      end

      # An error of the former store does not mean that it has no session.
      #
      # @yield asks the store
      # @return [Object] the block's value
      # @raise [UnavailableError]
      def self.asking
        yield
      rescue StandardError => error
        raise UnavailableError.new(STORE, "#{error.class}: #{error.message}")
      end

      # @return [String] name of the old store's cookie
      attr_reader :cookie

      # @param given [Symbol, Array, Class, #find_session, #call] a store of Rails' by name, with its options; a
      #   middleware; or a lambda
      # @param key [String] name of Larder's cookie; the old one has the same unless its options have another key:
      # @param report [#call] told of values that the serializer cannot keep, as an Error
      # @raise [InvalidArgument]
      def initialize(given, key:, report:)
        @report = report
        kind, options = given
        options = { key: key, **(options || {}) }
        @cookie = options[:key].to_s
        @left = @cookie != key.to_s
        @source = source(kind, options)
      end

      # @param repository [Repository]
      # @param request [Rack::Request] without a session of Larder's
      # @param id [Rack::Session::SessionId] of its old cookie
      # @return [Array(Rack::Session::SessionId, Repository::Found), nil]
      # @raise [UnavailableError] it cannot be moved, and stays in the old store
      def move(repository, request, id)
        old = @source.id(request, id)
        return if old.nil? || old.empty?

        sid = Rack::Session::SessionId.new(derived(repository.backend, old))
        key = Digest::SHA256.digest(sid.public_id)
        values, unknown = asked(request, id) # before the mark, which is set before the session is deleted there
        at = marked_at(repository.backend, key)
        raise unknown if unknown && at.nil?

        found = at ? still_open(repository, key, at) : moved(repository, key, values)
        return unless found

        delete(request, id) unless values.empty?
        [sid, found]
      end

      # Notes that a request has brought the new cookie of a session that was moved. If the old one has another name, it
      # is deleted.
      #
      # @param repository [Repository]
      # @param request [Rack::Request]
      # @param found [Repository::Found]
      # @return [Repository::Found] the same session
      def arrived(repository, request, found)
        return found unless found.record.awaited?

        request.cookie_jar.delete(@cookie) if @left && request.respond_to?(:cookie_jar)
        before = repository.backend.read(MARKS + found.key)
        put_mark(repository, MARKS + found.key, before) if before # a session that got another id has none
        repository.arrived(found)
      rescue Larder::RemoteError => error # the next request notes it
        @report.call(error)
        found
      end

      private

      def source(kind, options)
        return Cookies.new(@cookie) if kind == :cookie_store
        return Table.new if kind == :active_record_store && table?

        kind = named(kind) if kind.is_a?(Symbol)
        options = { **options, cache: raising(options[:cache]) } if cache_store?(kind)
        return Middlewares.new(kind) if kind.respond_to?(:find_session)
        return Callable.new(kind) if kind.respond_to?(:call)
        return Middlewares.new(kind.new(nil, options)) if kind.is_a?(Class) && kind.method_defined?(:find_session)

        raise InvalidArgument, "migrate_from: #{kind.inspect} is none of :cookie_store, :cache_store, " \
                               ":mem_cache_store, :active_record_store (of activerecord-session_store), a middleware " \
                               "with find_session, or a lambda of request and id that answers a Hash or nil"
      end

      def cache_store?(kind)
        type = ActionDispatch::Session::CacheStore if defined?(ActionDispatch::Session::CacheStore)
        type && kind.is_a?(Class) && kind <= type
      end

      # Rails' stores answer an error by nil.
      def raising(store)
        require_relative "backends/store_builder"
        Backends::StoreBuilder.raising_copy(store || Rails.cache)
      end

      def table?
        defined?(ActionDispatch::Session::ActiveRecordStore)
      end

      # A session store of Rails', or the name where there is none.
      def named(kind)
        name = kind.to_s.split("_").map(&:capitalize).join
        %i[cache_store mem_cache_store].include?(kind) ? ActionDispatch::Session.const_get(name) : kind
      rescue NameError
        kind
      end

      # @return [Array(Hash, UnavailableError)] the values; the error if they are not known
      def asked(request, id)
        [@source.values(request, id), nil]
      rescue UnavailableError => error
        @report.call(error)
        [{}, error]
      end

      # The mark opens nothing later, also if the former store has the session still.
      def delete(request, id)
        @source.delete(request, id)
      rescue StandardError => error
        @report.call(Error.new("a session that was moved is still in #{STORE} #{error.class}: #{error.message}. " \
                               "Larder does not open it again for an idle_timeout; delete it in that store before"))
      end

      # @return [Integer, nil] Unix seconds at which it was moved, or at which a request first brought the new cookie
      def marked_at(backend, key)
        mark = MARKS + key
        (backend.read(mark) || backend.reload(mark))&.to_i
      end

      # @return [Repository::Found, nil]
      def moved(repository, key, values)
        values = values.to_h.transform_keys(&:to_s).except("session_id")
        return if values.empty? || repository.logged_out?(values)

        began = repository.begin(key, values, awaited: true)
        return repository.end(key) && nil if repository.logged_out?(values) # at the same time

        found = repository.find(key)
        return unless found

        return found unless put_mark(repository, MARKS + key) == :changed && began

        repository.end(key) # another request has moved it, and it has ended since
        nil
      end

      # @param at [Integer] see marked_at
      def still_open(repository, key, at)
        found = repository.find(key)
        found if found && (found.record.awaited? || repository.now - at <= GRACE)
      end

      # Without room for a pinned mark, one that may be evicted is set.
      #
      # @param before [String, nil] the mark that it replaces
      def put_mark(repository, mark, before = nil)
        bytes = repository.now.to_s
        life = repository.lifetimes.longest
        [true, false].each do |pin|
          outcome = if before then repository.backend.swap(mark, before, bytes, life, pin: pin)
                    else repository.backend.add(mark, bytes, life, pin: pin)
                    end
          return outcome unless outcome == :full
        end
        :full
      end

      def derived(backend, old)
        OpenSSL::HMAC.hexdigest("SHA256", secret(backend), old)[0, 32]
      end

      # All machines with the same store behind them have the same.
      def secret(backend)
        backend.read(SECRET) || begin
          bytes = backend.reload(SECRET) || SecureRandom.bytes(32)
          backend.add(SECRET, bytes, nil, pin: true)
          backend.read(SECRET) || backend.refused("the secret of migrate_from:")
        end
      end
    end
  end
end
