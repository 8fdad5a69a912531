# frozen_string_literal: true

# Owns how sessions of another store move into Larder's while an application changes over. Knows the other store by
# what it finds for a request's cookie.

require "digest"
require "openssl"
require "securerandom"
require_relative "errors"

module Larder
  module Sessions
    # Moves a session once, under a new id, at the first request that has the other store's cookie and none of Larder's.
    #
    # The new id is an HMAC of the old one under a secret of the file: requests that come at once with the old cookie
    # get the same session. A mark says that a session has moved. While it is young they are given that session; later
    # the old cookie opens nothing, also where the other store cannot forget it, as one in cookies.
    class Migration
      # Where the secret is kept, and what begins the keys of marks.
      SECRET = "migration"
      MARKS = "m/"
      # Seconds for which requests may still come with the old cookie.
      GRACE = 60
      private_constant :SECRET, :MARKS, :GRACE

      # What finds a session by Rails' cookie store.
      class Cookies
        # @param key [String] name of the cookie
        # @param left [Boolean] it is not overwritten by Larder's, which has another name
        def initialize(key, left:)
          @key = key
          @left = left
        end

        # @return [Array(String, Hash), nil] what it is known by, and its values
        def find(request, _id)
          unless request.respond_to?(:cookie_jar)
            raise InvalidArgument, "migrate_from: :cookie_store is Rails' own; with Rack alone give a lambda"
          end

          values = request.cookie_jar.signed_or_encrypted[@key]
          [values["session_id"].to_s, values] if values.is_a?(Hash) && values["session_id"]
        end

        # @return [void]
        def delete(request, _id)
          request.cookie_jar.delete(@key) if @left
        end
      end

      # What finds a session by a middleware of Rack's or Rails', with find_session.
      class Middlewares
        # @param middleware [#find_session, #delete_session]
        def initialize(middleware)
          @middleware = middleware
        end

        # @return [Array(String, Hash)]
        def find(request, id)
          found, values = @middleware.find_session(request, id)
          same = found.respond_to?(:public_id) && found.public_id == id.public_id
          [id.public_id, same && values ? values.to_h : {}]
        end

        # @return [void]
        def delete(request, id)
          @middleware.delete_session(request, id, { drop: true })
        end
      end

      # What finds a session by anything that can be called.
      class Callable
        # @param callable [#call] takes a request and the String in the cookie, answers a Hash or nil
        def initialize(callable)
          @callable = callable
        end

        # @return [Array(String, Hash)]
        def find(request, id)
          [id.public_id, @callable.call(request, id.public_id).to_h]
        end

        # It is not told, and a mark keeps it from being asked again.
        # @return [void]
        def delete(_request, _id); end
      end

      # @return [String] name of the old store's cookie
      attr_reader :cookie

      # @param given [Symbol, Array, Class, #find_session, #call] a store of Rails' by name, with its options; a
      #   middleware; or what can be called
      # @param key [String] name of Larder's cookie, which the old one has unless its options say another key:
      # @param report [#call] told of values that cannot be kept, as an Error
      # @raise [InvalidArgument]
      def initialize(given, key:, report:)
        @report = report
        kind, options = given
        options = { key: key, **(options || {}) }
        @cookie = options[:key].to_s
        @source = source(kind, options, key.to_s)
      end

      # @param repository [Repository]
      # @param request [Rack::Request] without a session of Larder's
      # @param id [Rack::Session::SessionId] what its old cookie has
      # @return [Array(Rack::Session::SessionId, Repository::Found), nil]
      def move(repository, request, id)
        old, values = @source.find(request, id)
        return if old.nil? || old.empty?

        sid = Rack::Session::SessionId.new(derived(repository.backend, old))
        found = moved(repository, MARKS + Digest::SHA256.digest(old), Digest::SHA256.digest(sid.public_id), values)
        return unless found

        @source.delete(request, id) unless values.empty?
        [sid, found]
      end

      private

      def source(kind, options, key)
        return Callable.new(kind) if kind.respond_to?(:call) && !kind.respond_to?(:find_session)
        return Middlewares.new(kind) if kind.respond_to?(:find_session)
        return Cookies.new(@cookie, left: @cookie != key) if kind == :cookie_store

        kind = ActionDispatch::Session::CacheStore if kind == :cache_store && defined?(ActionDispatch)
        return Middlewares.new(kind.new(nil, options)) if kind.is_a?(Class) && kind.method_defined?(:find_session)

        raise InvalidArgument, "migrate_from: #{kind.inspect} is none of :cookie_store, :cache_store, a middleware " \
                               "with find_session, or a lambda of request and id that answers a Hash or nil"
      end

      # @return [Repository::Found, nil]
      def moved(repository, mark, key, values)
        backend = repository.backend
        at = backend.read(mark) || backend.elsewhere([mark])&.fetch(mark, nil)
        return (repository.find(key) if repository.now - at.to_i <= GRACE) if at
        return if values.empty?

        began = repository.begin(key, kept(repository.format, values))
        found = repository.find(key)
        return unless found

        outcome = mark(repository, mark)
        return found unless began && outcome == :changed

        repository.end(key) # another request has moved it, and it has ended since
        nil
      end

      # A mark that may be evicted is better than none.
      def mark(repository, mark)
        [true, false].each do |pin|
          outcome = repository.backend.add(mark, repository.now.to_s, repository.lifetimes.idle, pin: pin)
          return outcome unless outcome == :full
        end
        :full
      end

      # Without what the serializer cannot keep, and without the old id.
      def kept(format, values)
        values = values.to_h.transform_keys(&:to_s).except("session_id")
        values.each_with_object({}) do |(name, value), kept|
          kept.update(format.convert(name => value))
        rescue LossyValueError => error
          @report.call(error)
        end
      end

      def derived(backend, old)
        OpenSSL::HMAC.hexdigest("SHA256", secret(backend), old)[0, 32]
      end

      # The same on all machines with one store behind them.
      def secret(backend)
        backend.read(SECRET) || begin
          bytes = backend.reload(SECRET) || SecureRandom.bytes(32)
          backend.add(SECRET, bytes, nil, pin: true)
          backend.read(SECRET) || raise(Error, "#{backend} kept no secret for migrate_from:")
        end
      end
    end
  end
end
