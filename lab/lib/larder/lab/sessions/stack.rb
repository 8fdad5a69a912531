# frozen_string_literal: true

# The session middleware of Rails over an endpoint of the lab, without an application around it: begins, reads and
# changes a session by requests.

# All of ActiveSupport, as an application has it.
require "active_support/all"
require "action_dispatch"
require "stringio"
require_relative "../errors"
require_relative "population"

module Larder
  module Lab
    module Sessions
      # Cookies, a session store, and an endpoint which does what a request brings along. A cookie is "name=value";
      # nil: the user has none, or keeps the one that he has.
      class Stack
        # Name of the cookie.
        KEY = "_larder_lab_session"
        # What the request does, and with which number.
        ACT = "larder_lab.act"
        NUMBER = "larder_lab.number"
        REQUEST = { "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "", "SERVER_NAME" => "localhost", "SERVER_PORT" => "80",
                    "SERVER_PROTOCOL" => "HTTP/1.1", "HTTP_HOST" => "localhost", "REMOTE_ADDR" => "127.0.0.1",
                    "rack.url_scheme" => "http" }.freeze
        # Work of a request with its session, and its answer.
        BEGIN_SESSION = lambda do |session, user|
          Population.values(user).each { |name, value| session[name] = value }
          user
        end
        READ = ->(session, _) { session["visited"] }
        CHANGE = lambda do |session, turn|
          before = session["seen"]
          session["seen"] = turn
          [before, turn]
        end
        private_constant :REQUEST

        class << self
          # A request as Rack has it.
          def request(path, cookie = nil)
            path, query = path.split("?", 2)
            env = { **REQUEST, "PATH_INFO" => path, "QUERY_STRING" => query.to_s, "rack.input" => StringIO.new,
                    "rack.errors" => $stderr }
            env["HTTP_COOKIE"] = cookie if cookie
            env
          end

          # The cookie of a response as Rack has it.
          def cookie(response)
            found = response[1].find { |name, _| name.casecmp?("set-cookie") }
            lines = Array(found&.last).flat_map { |line| line.split("\n") }
            lines.find { |line| line.start_with?("#{KEY}=") }&.[](/\A[^;]+/)
          end
        end

        # `type` is the store's middleware, with `options`; `settings` are those of the application.
        def initialize(type, options, settings)
          @settings = settings
          @bare = ActionDispatch::Cookies.new(->(env) { [200, {}, [env[NUMBER]]] })
          endpoint = ->(env) { [200, {}, [env[ACT].call(env["rack.session"], env[NUMBER])]] }
          @app = ActionDispatch::Cookies.new(type.new(endpoint, options.dup))
        end

        # Makes a request by way of the session store: one of the above; nil: nothing, and without the session store.
        # Answers the endpoint's answer, and a cookie.
        def visit(act, cookie = nil, number = 0)
          env = { **self.class.request("/", cookie), ACT => act, NUMBER => number, **@settings }
          response = (act ? @app : @bare).call(env)
          [response[2].first, self.class.cookie(response)]
        end

        # Begins a session and answers its cookie.
        def begin_session(user)
          visit(BEGIN_SESSION, nil, user).last or raise Invalid, "a new session got no cookie: it could not be kept"
        end
      end
    end
  end
end
