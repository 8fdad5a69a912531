# frozen_string_literal: true

# The session middleware of Rails over an endpoint of the lab, without an application around it: begins, reads and
# changes a session by requests, and keeps the cookie of the answer.

# All of ActiveSupport, as an application has it.
require "active_support/all"
require "active_support/messages/rotation_configuration"
require "action_dispatch"
require "stringio"
require_relative "../errors"

module Larder
  module Lab
    module Sessions
      # Cookies, a session store, and an endpoint which does what a request brings along.
      class Stack
        # Name of the cookie.
        KEY = "_larder_lab_session"
        # What the request does, and with which number.
        ACT = "larder_lab.act"
        NUMBER = "larder_lab.number"

        # What requests do with their session. Each answers what is to be seen of it.
        BEGIN_SESSION = lambda do |env|
          session = env["rack.session"]
          values(env[NUMBER]).each { |name, value| session[name] = value }
          env[NUMBER]
        end
        READ = ->(env) { env["rack.session"]["visited"] }
        CHANGE = lambda do |env|
          session = env["rack.session"]
          before = session["seen"]
          session["seen"] = env[NUMBER]
          [before, env[NUMBER]]
        end
        SEEN = ->(env) { env["rack.session"]["seen"] }
        # The same request without a session.
        NONE = ->(env) { env[NUMBER] }
        # As long as the real one.
        TOKEN = "q5LkZ0d3M1hT2c7XvB9nR8sW4yE6uJ0pQaGfKzNiOeY"

        # @param number [Integer]
        # @return [Hash{String=>Object}] what a session holds: about as much as an ordinary one. Every second user has
        #   signed in.
        def self.values(number)
          values = { "visited" => number, "_csrf_token" => TOKEN, "seen" => 0 }
          signed_in?(number) ? values.merge("user_id" => number) : values
        end

        # @param number [Integer]
        # @return [Boolean]
        def self.signed_in?(number)
          number.even?
        end

        # @param path [String]
        # @param cookie [String, nil] "name=value"
        # @return [Hash{String=>Object}] a request as Rack has it
        def self.request(path, cookie = nil)
          path, query = path.split("?", 2)
          env = { "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "", "PATH_INFO" => path, "QUERY_STRING" => query.to_s,
                  "SERVER_NAME" => "localhost", "SERVER_PORT" => "80", "SERVER_PROTOCOL" => "HTTP/1.1",
                  "HTTP_HOST" => "localhost", "REMOTE_ADDR" => "127.0.0.1", "rack.url_scheme" => "http",
                  "rack.input" => StringIO.new, "rack.errors" => $stderr }
          env["HTTP_COOKIE"] = cookie if cookie
          env
        end

        # @return [Hash{String=>Object}] what an application tells the middleware, in a new one of Rails'
        def self.settings
          secret = "the lab keeps no secrets, and this is as long as one"
          keys = ActiveSupport::CachingKeyGenerator.new(ActiveSupport::KeyGenerator.new(secret, iterations: 1000))
          { "action_dispatch.secret_key_base" => secret, "action_dispatch.key_generator" => keys,
            "action_dispatch.use_authenticated_cookie_encryption" => true,
            "action_dispatch.authenticated_encrypted_cookie_salt" => "authenticated encrypted cookie",
            "action_dispatch.encrypted_cookie_cipher" => "aes-256-gcm", "action_dispatch.cookies_serializer" => :json,
            "action_dispatch.use_cookies_with_metadata" => true,
            "action_dispatch.cookies_rotations" => ActiveSupport::Messages::RotationConfiguration.new,
            "action_dispatch.cookies_same_site_protection" => ->(_request) { :lax } }
        end

        # @param type [Class] the store's middleware
        # @param options [Hash{Symbol=>Object}] what it is configured with
        # @param settings [Hash{String=>Object}] what the application tells it
        def initialize(type, options, settings = self.class.settings)
          @settings = settings
          endpoint = ->(env) { [200, {}, [env[ACT].call(env)]] }
          @bare = ActionDispatch::Cookies.new(endpoint)
          @app = ActionDispatch::Cookies.new(type.new(endpoint, options.dup))
        end

        # @param act [#call] one of the above
        # @param cookie [String, nil] "name=value"
        # @param number [Integer]
        # @return [Hash{String=>Object}] a request
        def request(act, cookie = nil, number = 0)
          { **self.class.request("/", cookie), ACT => act, NUMBER => number, **@settings }
        end

        # Answers a request by way of the session store.
        # @param request [Hash{String=>Object}]
        # @return [Array] as Rack has it
        def call(request)
          @app.call(request)
        end

        # Answers a request that has nothing to do with sessions.
        # @param request [Hash{String=>Object}]
        # @return [Array] as Rack has it
        def call_without(request)
          @bare.call(request)
        end

        # @param response [Array] as Rack has it
        # @return [Object] what the endpoint answered
        def self.value(response)
          response[2].first
        end

        # @param response [Array] as Rack has it
        # @return [String, nil] "name=value"; nil where the user keeps what he has
        def self.cookie(response)
          found = response[1].find { |name, _| name.casecmp?("set-cookie") }
          lines = Array(found&.last).flat_map { |line| line.split("\n") }
          lines.find { |line| line.start_with?("#{KEY}=") }&.[](/\A[^;]+/)
        end

        # Begins a session.
        # @param number [Integer]
        # @return [String] its cookie
        # @raise [Invalid]
        def begin_session(number)
          cookie = self.class.cookie(call(request(BEGIN_SESSION, nil, number)))
          cookie or raise Invalid, "a new session got no cookie: it could not be kept"
        end

        # Makes one request.
        # @param act [#call]
        # @param cookie [String]
        # @param number [Integer]
        # @return [Array(Object, String)] what the endpoint answered, and the cookie that the user has by then
        def visit(act, cookie, number = 0)
          response = call(request(act, cookie, number))
          [self.class.value(response), self.class.cookie(response) || cookie]
        end
      end
    end
  end
end
