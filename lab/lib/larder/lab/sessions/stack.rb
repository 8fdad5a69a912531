# frozen_string_literal: true

# The session middleware of Rails over an endpoint of the lab, without an application around it: begins, reads and
# changes a session by requests, and keeps the cookie of the answer.

# All of ActiveSupport, as an application has it.
require "active_support/all"
require "action_dispatch"
require "stringio"
require_relative "../errors"
require_relative "population"

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
        REQUEST = { "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "", "SERVER_NAME" => "localhost", "SERVER_PORT" => "80",
                    "SERVER_PROTOCOL" => "HTTP/1.1", "HTTP_HOST" => "localhost", "REMOTE_ADDR" => "127.0.0.1",
                    "rack.url_scheme" => "http" }.freeze
        private_constant :REQUEST

        # What requests do with their session. Each answers what is to be seen of it.
        BEGIN_SESSION = lambda do |env|
          session = env["rack.session"]
          Population.values(env[NUMBER]).each { |name, value| session[name] = value }
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

        class << self
          # @param path [String]
          # @param cookie [String, nil] "name=value"
          # @return [Hash{String=>Object}] a request as Rack has it
          def request(path, cookie = nil)
            path, query = path.split("?", 2)
            env = { **REQUEST, "PATH_INFO" => path, "QUERY_STRING" => query.to_s, "rack.input" => StringIO.new,
                    "rack.errors" => $stderr }
            env["HTTP_COOKIE"] = cookie if cookie
            env
          end

          # @param response [Array] as Rack has it
          # @return [Object] what the endpoint answered
          def value(response) = response[2].first

          # @param response [Array] as Rack has it
          # @return [String, nil] "name=value"; nil where the user keeps what he has
          def cookie(response)
            found = response[1].find { |name, _| name.casecmp?("set-cookie") }
            lines = Array(found&.last).flat_map { |line| line.split("\n") }
            lines.find { |line| line.start_with?("#{KEY}=") }&.[](/\A[^;]+/)
          end
        end

        # @param type [Class] the store's middleware
        # @param options [Hash{Symbol=>Object}] what it is configured with
        # @param settings [Hash{String=>Object}] what the application tells it
        def initialize(type, options, settings)
          @settings = settings
          endpoint = ->(env) { [200, {}, [env[ACT].call(env)]] }
          @bare = ActionDispatch::Cookies.new(endpoint)
          @app = ActionDispatch::Cookies.new(type.new(endpoint, options.dup))
        end

        # Answers a request by way of the session store.
        # @param act [#call] one of the above
        # @param cookie [String, nil] "name=value"
        # @param number [Integer]
        # @return [Array] as Rack has it
        def call(act, cookie = nil, number = 0) = @app.call(request(act, cookie, number))

        # Answers a request that has nothing to do with sessions.
        # @param number [Integer]
        # @return [Array] as Rack has it
        def call_without(number) = @bare.call(request(NONE, nil, number))

        # Begins a session.
        # @param number [Integer]
        # @return [String] its cookie
        # @raise [Invalid]
        def begin_session(number)
          cookie = self.class.cookie(call(BEGIN_SESSION, nil, number))
          cookie or raise Invalid, "a new session got no cookie: it could not be kept"
        end

        # Makes one request.
        # @param act [#call]
        # @param cookie [String]
        # @param number [Integer]
        # @return [Array(Object, String)] what the endpoint answered, and the cookie that the user has by then
        def visit(act, cookie, number = 0)
          response = call(act, cookie, number)
          [self.class.value(response), self.class.cookie(response) || cookie]
        end

        private

        def request(act, cookie, number)
          { **self.class.request("/", cookie), ACT => act, NUMBER => number, **@settings }
        end
      end
    end
  end
end
