# frozen_string_literal: true

# The sessions that a store has before it is measured, and requests by those who have them: through the session
# middleware of Rails over an endpoint of the lab, and to an application.

# All of ActiveSupport, as an application has it.
require "active_support/all"
require "action_dispatch"
require "rack/mock"
require "stringio"
require_relative "../errors"
require_relative "row"

module Larder
  module Lab
    module Sessions
      # Cookies, a session store, and an endpoint which does what a request brings along: it begins, reads or changes a
      # session. A cookie is "name=value"; nil: the user has none, or keeps the one that he has.
      class Stack
        # Name of the cookie.
        KEY = "_larder_lab_session"
        # What the request does, and with which number.
        ACT = "larder_lab.act"
        NUMBER = "larder_lab.number"
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

        class << self
          # A request as Rack has it.
          def request(path)
            Rack::MockRequest.env_for(path, "HTTP_HOST" => "localhost", "REMOTE_ADDR" => "127.0.0.1",
                                            "rack.errors" => $stderr)
          end

          # With the user's cookie, if there is one.
          def with_cookie(request, cookie)
            { **request, "rack.input" => StringIO.new, **(cookie ? { "HTTP_COOKIE" => cookie } : {}) }
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
          @request = { **self.class.request("/"), **settings }
          @bare = ActionDispatch::Cookies.new(->(env) { [200, {}, [env[NUMBER]]] })
          endpoint = ->(env) { [200, {}, [env[ACT].call(env["rack.session"], env[NUMBER])]] }
          @app = ActionDispatch::Cookies.new(type.new(endpoint, options.dup))
        end

        # Makes a request by way of the session store: one of the above; nil: nothing, and without the session store.
        # Answers the endpoint's answer, and a cookie.
        def visit(act, cookie = nil, number = 0)
          env = { **self.class.with_cookie(@request, cookie), ACT => act, NUMBER => number }
          response = (act ? @app : @bare).call(env)
          [response[2].first, self.class.cookie(response)]
        end

        # Begins a session and answers its cookie.
        def begin_session(user)
          visit(BEGIN_SESSION, nil, user).last or raise Invalid, "a new session got no cookie: it could not be kept"
        end
      end

      # Begins sessions, proves that they are kept, and sends requests with them: each checks its answer.
      class Visitors
        # Sessions that must come back before anything is measured, at most.
        PROOFS = 20
        # The first user whose session begins while it is measured.
        NEWCOMERS = 1_000_000_000

        def initialize(store, stack)
          @store = store
          @stack = stack
          @random = Random.new(Row::SEED)
          @written = {}
        end

        def arrive
          users = Array.new(@store.keeps? ? Row::SESSIONS : Row::POPULAR) { |number| Population.user(number) }
          @cookies = users.each_slice(Row::TOGETHER).flat_map { |some| @store.fill(@stack, some) }
          @popular = Population.sample(users.size, Row::POPULAR, @random)
        end

        # Proves that sessions are there, `values` of them at most, are changed, and that new ones begin, and that one
        # that was never begun is not there. Raises Invalid otherwise.
        def prove(values)
          (0...@cookies.size).to_a.sample([values, PROOFS].min, random: @random).each do |number|
            demand(unchanged?(number), "session #{number}")
            2.times { demand(changed?(number, 0), "session #{number} after a change") }
          end
          demand(@stack.visit(Stack::READ, @stack.begin_session(1)).first == 1, "a new session")
          nobody = @stack.visit(Stack::READ, "#{Stack::KEY}=#{"0" * 32}").first
          demand(nobody.nil?, "a session that nobody began")
        end

        # Code that makes a request, and answers whether it found what is right: :unchanged, :changed, :new, or :none,
        # without a session.
        def work(name)
          popular = @popular[true]
          case name
          when :unchanged then ->(turn) { unchanged?(popular[turn % popular.size]) }
          when :changed then ->(turn) { changed?(popular[turn % popular.size], turn + 1) }
          when :new then ->(turn) { begun?(NEWCOMERS + turn) }
          else ->(_) { @stack.visit(nil, nil, 7).first == 7 }
          end
        end

        # Code that asks the application for a page, and answers whether it came, with the right session. It `begins` a
        # session, or brings one.
        def page(path, begins)
          request = Stack.request(path)
          application = @store.application
          popular = @popular[false]
          lambda do |turn|
            cookie = @cookies[popular[turn % popular.size]] unless begins
            response = application.call(Stack.with_cookie(request, cookie))
            came?(response) && right?(begins, cookie, Stack.cookie(response))
          end
        end

        private

        def unchanged?(number) = @stack.visit(Stack::READ, @cookies[number]).first == Population.user(number)

        # The value of the last change is there before the next one.
        def changed?(number, turn)
          answer, cookie = @stack.visit(Stack::CHANGE, @cookies[number], turn)
          @cookies[number] = cookie || @cookies[number]
          last, @written[number] = @written[number], turn
          answer == [last || 0, turn]
        end

        def begun?(user)
          answer, cookie = @stack.visit(Stack::BEGIN_SESSION, nil, user)
          answer == user && !cookie.nil?
        end

        def demand(right, what)
          right or raise Invalid, "a wrong value: #{what}"
        end

        # The whole of it: what a server would send is asked for, and closed.
        def came?(response)
          bytes = 0
          response[2].each { |part| bytes += part.bytesize }
          response[2].close if response[2].respond_to?(:close)
          response[0] == 200 && bytes.positive?
        end

        # A user without a session got one, another one's went on.
        def right?(begins, brought, given) = begins ? !given.nil? : given.nil? || given == brought || !@store.keeps?
      end
    end
  end
end
