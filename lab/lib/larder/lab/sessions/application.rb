# frozen_string_literal: true

# All of ActiveSupport, as an application has it.
require "active_support/all"
require "action_dispatch"
require "action_dispatch/middleware/session/cache_store"
require "json"
require "rack/mock"
require "stringio"
require_relative "../contenders/own_place"
require_relative "../errors"

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
          users = Array.new(store.keeps? ? Row::SESSIONS : Row::POPULAR) { |number| Population.user(number) }
          @cookies = users.each_slice(Row::TOGETHER).flat_map { |some| store.fill(stack, some) }
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

      # The recipes application of the published comparison, which boots with one session store in the process that
      # measures it. Its recipes are in MariaDB, as they were there, together with sessions in SQL.
      class Application
        # The application. Only a checkout has it.
        ROOT = File.expand_path("../../../../../examples/recipes", __dir__)
        MISSING = "the application that pages are asked of is not there: a checkout of Larder has it in " \
                  "examples/recipes, the gem larder-lab does not"
        # Each process's own, and the same for all session stores.
        CACHE = ["memory_store", { expires_in: 3600 }].freeze
        # The variable of the server that the published comparison changed.
        QUERY_CACHE = "query_cache_type"

        # The session's middleware as this application has it.
        attr_reader :stack

        # It writes into `dir`. Its database, which all rows share, is in the server at `endpoint`.
        def initialize(store, dir, endpoint)
          raise Unavailable, MISSING unless File.exist?(File.join(ROOT, "config/environment.rb"))

          @place = Contenders::OwnDatabase.new(endpoint).settle
          url = URI.parse(endpoint["url"]).tap { |uri| uri.path = "/#{@place.name}" }
          boot(store, File.join(dir, "application"), url.to_s)
          store.ready
          config = @application.config
          @stack = Stack.new(config.session_store, config.session_options, @application.env_config)
        end

        # As Rack has it.
        def call(request) = @application.call(request)

        # Goes on with new connections, whose query cache is "ON" or "OFF".
        def query_cache(word)
          base = ActiveRecord::Base
          base.establish_connection(**database, variables: { QUERY_CACHE => word })
          found = base.connection.select_rows("SHOW SESSION VARIABLES LIKE '#{QUERY_CACHE}'").dig(0, 1)
          return if found == word

          raise Unavailable, "its database has no query cache that is #{word.downcase} (MySQL since 8 has none)"
        rescue ActiveRecord::ActiveRecordError => error
          raise Unavailable, "its database has no query cache: #{error.message.lines.first.to_s.strip}"
        end

        private

        def boot(store, storage, place)
          sessions = [store.class.middleware, { key: Stack::KEY, **store.options }]
          ENV.update("RAILS_ENV" => "production", "RECIPES_STORAGE" => storage, "RECIPES_DATABASE" => place,
                     "RECIPES_CACHE_STORE" => JSON.generate(CACHE), "RECIPES_SESSION_STORE" => JSON.generate(sessions))
          require File.join(ROOT, "config/environment")
          @application = Rails.application
        end

        def database
          pool = ActiveRecord.gem_version >= Gem::Version.new("8.1") ? :max_connections : :pool
          { **@place.database, pool => Store::POOL }
        end
      end
    end
  end
end

module ActionDispatch
  module Session
    # `config.session_store :larder_lab_cache_store, within: [NAME, ...]`: CacheStore over a cache of its own. That of
    # Rails takes an object, which no configuration in plain data can name.
    class LarderLabCacheStore < CacheStore
      def initialize(app, options = {})
        super(app, options.except(:within).merge(cache: cache(*options[:within])))
      end

      private

      def cache(name, last)
        last = last.symbolize_keys.merge(error_handler: method(:fail_loudly)) if name == "redis_cache_store"
        ActiveSupport::Cache.lookup_store(name.to_sym, last)
      end

      # Rails takes a lost connection for a lost session, which would be measured.
      def fail_loudly(method:, returning:, exception:)
        raise exception.class, "#{method} would have answered #{returning.inspect}: #{exception.message}"
      end
    end
  end
end
