# frozen_string_literal: true

# Defines the class of `config.session_store :larder_store`: Larder's sessions for Rails.

require "openssl"
require "action_dispatch"
require "action_dispatch/middleware/session/abstract_store"
require_relative "../../../larder/sessions/middleware"

module ActionDispatch
  module Session
    # Sessions in a file of Larder's, or in any store of ActiveSupport's.
    #
    # @example
    #   config.session_store :larder_store, key: "_app_session", ephemeral: true, idle_timeout: 2.weeks
    class LarderStore < AbstractSecureStore
      include ::Larder::Sessions::Middleware

      # As config.action_dispatch.cookies_same_site_protection says, which the cookie store of Rails heeds as well.
      SAME_SITE = ->(request, _response) { request.cookies_same_site_protection || :lax }

      # Where Rails keeps the token against forged requests, see
      # ActionController::RequestForgeryProtection::SessionStore.
      TOKEN = :_csrf_token
      # Where a request has it until its session is stored.
      TOKEN_OF_REQUEST = "action_controller.csrf_token"
      private_constant :TOKEN, :TOKEN_OF_REQUEST

      # The session that a request sees.
      class Values < Request::Session
        include ::Larder::Sessions::Nesting::Lazy
        include ::Larder::Sessions::Removals

        # A session that has no token against forged requests yet has one that follows from its id: requests that
        # overlap embed the same one in their forms, whichever is kept first.
        #
        # @param key [#to_s]
        # @return [Object, nil]
        def [](key)
          super || (@by.csrf_token(@req) if key == TOKEN)
        end

        private

        def middleware
          @by
        end
      end
      private_constant :Values

      # As Request::Session.create, with a session of this class. It loads by its own options before it takes the values
      # of another middleware's session.
      #
      # @param request [ActionDispatch::Request]
      # @return [Request::Session]
      def prepare_session(request)
        before = Request::Session.find(request)
        session = Values.new(self, request)
        Request::Session.set(request, session)
        Request::Session::Options.set(request, Request::Session::Options.new(self, @default_options))
        session.merge!(before) if before
        session
      end

      # Of a session that was found without one. A new session, one that is renewed, and one whose token the request
      # has taken out, as Devise does at a sign-in, get a random one from Rails, which nobody knows who knew the id.
      #
      # @param request [ActionDispatch::Request]
      # @return [String, nil]
      def csrf_token(request)
        found = request.get_header(FOUND)
        return if found.nil? || found.values.key?(TOKEN.name) || request.session_options[:renew]

        token = OpenSSL::HMAC.digest("SHA256", request.session.id.public_id, "larder #{TOKEN}")
        [token].pack("m0").tr("+/", "-_").delete("=")
      end

      private

      # The token against forged requests belongs to the session before it is looked at.
      def keep(request, session, found)
        request.commit_csrf_token
        super
      end

      # The token of a visitor's first form is not in the session yet.
      def unused?(request, session, options)
        !request.has_header?(TOKEN_OF_REQUEST) && super
      end

      # Rails asks which session it is before it asks for it, and again after that: the answer stays.
      def session_exists?(request)
        id = current_session_id(request)
        return false if id.nil? || id.empty?

        options = request.get_header(Rack::RACK_SESSION_OPTIONS)
        options[:id] = id if options
        true
      end

      def cookie_of(request)
        request.have_cookie_jar? ? request.cookie_jar[key] : super
      end
    end
  end
end

ActiveSupport.on_load(:devise_controller) do
  require "larder/sessions/devise"
  prepend Larder::Sessions::Devise
end
