# frozen_string_literal: true

require "test_helper"
require "rack/builder"
require "rack/mock"
require "rack/session/larder"
require "support/reported_errors"
require "support/servers"
require "support/solid_cache_application"

module Larder
  module Sessions
    module Backends
      # Sessions in the stores that applications have, and behind a file: real Redis, memcached and Solid Cache, by real
      # requests. A restart is another middleware, and with `backed_by:` another, empty file.
      class StoresTest < ActiveSupport::TestCase
        include ReportedErrors
        include TemporaryCaches
        include Processes

        # name => what is typed, of a test
        STORES = {
          "a FileStore" => ->(test) { [:file_store, test.path_of("files")] },
          "Redis"       => ->(test) { [:redis_cache_store, { url: test.endpoint("redis")["url"] }] },
          "memcached"   => ->(test) { [:mem_cache_store, test.endpoint("memcached")["url"], { protocol: :meta }] },
          "Solid Cache" => ->(_) { SolidCacheApplication.cache_store }
        }.freeze

        APPLICATION = lambda do |env|
          session = env["rack.session"]
          case env["PATH_INFO"]
          when "/sign_in"
            session.options[:renew] = true
            session["user_id"] = env["QUERY_STRING"].to_i
          when "/sign_out" then session.clear
          when "/count" then session[env["QUERY_STRING"]] = session[env["QUERY_STRING"]].to_i + 1
          end
          [200, {}, [session.to_hash.except("session_id").sort.inspect]]
        end

        # A browser, as far as cookies go.
        class Browser
          attr_accessor :cookie

          def get(application, path)
            answer = Rack::MockRequest.new(application).get(path, { "HTTP_COOKIE" => cookie }.compact)
            self.cookie = Array(answer["set-cookie"]).join[/\A[^;]+/] || cookie
            answer.body
          end
        end

        setup { @browser = Browser.new }

        STORES.each do |name, typed|
          %i[cache backed_by copies].each do |option|
            test "who is signed in stays so over a restart, in #{name} by #{option}:" do
              start(option, typed)
              get("/count?n")
              get("/sign_in?7")
              restart
              assert_equal '[["n", 2], ["user_id", 7]]', get("/count?n")
              assert Sessions.logged_in?(7)
              assert_equal 1, Sessions.for(7).size
            end

            test "who was logged out is signed in nowhere, also after a restart, in #{name} by #{option}:" do
              start(option, typed)
              other = Browser.new
              [@browser, other].each { |browser| get("/sign_in?7", browser) }
              get("/sign_in?8", bob = Browser.new)
              restart
              assert_equal 2, Sessions.logout(7)
              2.times do
                assert_equal ["[]", "[]", '[["user_id", 8]]'], [@browser, other, bob].map { |one| get("/", one) }
                refute Sessions.logged_in?(7)
                restart
              end
            end

            test "who signs out is signed out, also after a restart, in #{name} by #{option}:" do
              start(option, typed)
              get("/sign_in?7")
              get("/sign_out")
              restart
              assert_equal ["[]", false], [get("/"), Sessions.logged_in?(7)]
            end

            test "a sign-in changes the id, and the former id opens nothing, in #{name} by #{option}:" do
              start(option, typed)
              get("/count?n")
              before = @browser.cookie
              get("/sign_in?7")
              refute_equal before, @browser.cookie
              2.times do
                assert_equal '[["n", 1], ["user_id", 7]]', get("/")
                assert_equal "[]", get("/", Browser.new.tap { |thief| thief.cookie = before })
                restart
              end
            end
          end
        end

        test "of a Solid Cache that deletes entries before sessions end the operator is warned" do
          { {} => 1, { max_lifetime: 1_000_000 } => 0, { max_lifetime: 2_000_000 } => 1 }.each do |options, warnings|
            typed = SolidCacheApplication.cache_store
            reports = reported { Sessions.repository(cache: typed, **options) }
            assert_equal warnings, reports.grep(MaxAgeError).size, options
          end
          assert_empty reported { Sessions.repository(cache: [:solid_cache_store, { max_age: nil }]) }
        end

        # A FileStore is for one process, and connections of Solid Cache cannot be inherited by a fork.
        STORES.slice("Redis", "memcached").to_a.product(%i[cache copies]).each do |(name, typed), option|
          test "of two processes that change one session both changes are kept, in #{name} by #{option}:" do
            start(option, typed)
            get("/sign_in?7")
            pids = %w[a b].map { |key| fork { exit!(20.times.all? { get("/count?#{key}") }) } }
            pids.each { |pid| assert_predicate wait_for(pid), :success? }
            assert_equal '[["a", 20], ["b", 20], ["user_id", 7]]', get("/")
          end
        end

        public :path_of

        def endpoint(name)
          TestServers.endpoint(name) || skip("#{name} is not installed")
        end

        private

        def start(option, typed)
          @option = option
          @given = typed.call(self)
          ActiveSupport::Cache.lookup_store(*@given).clear
          restart
        end

        def restart
          @files = @files.to_i + 1
          Sessions.use(nil)
          own = { (@option == :copies ? :cache : @option) => @given }
          own.update(backplane: endpoint("redis")["url"]) if @option == :copies
          own.update(file: path_of("sessions#{@files}.larder"), size: 1 << 20) unless @option == :cache
          @application = Rack::Session::Larder.new(APPLICATION, **own)
        end

        def get(path, browser = @browser)
          browser.get(@application, path)
        end
      end
    end
  end
end
