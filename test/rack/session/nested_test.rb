# frozen_string_literal: true

require "test_helper"
require "action_controller"
require "action_dispatch/middleware/session/larder_store"
require "rack/session/cookie"
require "rack/session/larder"
require "rack/session/pool"
require "rack/mock"
require "support/optional_gem"
require "support/reported_errors"

module Rack
  module Session
    # Two session middlewares in one request: Rack's or Sinatra's own, and Larder's for Rack or Rails.
    class NestedTest < ActiveSupport::TestCase
      include ReportedErrors
      include TemporaryCaches

      # A browser, which keeps cookies.
      class Browser
        attr_reader :cookies, :last

        def initialize(app)
          @app = app
          @cookies = {}
        end

        # @return [String] the body
        def get(path, env = {})
          header = @cookies.map { |name, value| "#{name}=#{value}" }.join("; ")
          @last = MockRequest.new(@app).get(path, { "HTTP_COOKIE" => header, **env })
          Array(@last["set-cookie"]).flat_map { |one| one.split("\n") }.each do |one|
            name, value = one[/\A[^;]+/].split("=", 2)
            @cookies[name] = value
          end
          @last.status == 200 ? @last.body : "#{@last.status} #{@last.body}"
        end
      end

      SECRET = "s" * 64
      # A request answers with its session, after it has done what its path says.
      PAGE = lambda do |env|
        session = env["rack.session"]
        case env["PATH_INFO"]
        when %r{/sign_in\z} then session["user_id"] = 7
        when %r{/sign_out\z} then session.clear
        when %r{/leave\z} then session.delete("user_id")
        when %r{/count\z} then session["count"] = session["count"].to_i + 1
        end
        [200, {}, [session.to_hash.except("session_id", "csrf", "tracking").sort.to_h.to_json]]
      end

      LARDERS = { "Larder for Rack" => Larder, "Larder for Rails" => ActionDispatch::Session::LarderStore }.freeze
      OTHERS = { "Rack's cookies" => [Cookie, { secret: SECRET, key: "other" }],
                 "Rack's memory"  => [Pool, { key: "other" }],
                 "another Larder" => [Larder, { key: "other", size: 1 << 20 }] }.freeze

      LARDERS.to_a.product(OTHERS.to_a).each do |(name, larder), (other, (type, options))|
        test "#{other} behind #{name}: both have sessions, and each keeps its id" do
          browser = browse(larder, type, options)
          assert_equal ['{"user_id":7}', '{"count":1,"user_id":7}', '{"user_id":7}', '{"count":2,"user_id":7}'],
                       ["/sign_in", "/in/count", "/", "/in/count"].map { |path| browser.get(path) }
          assert_equal 2, browser.cookies.slice("mine", "other").values.uniq.size
          assert logged_in?
        end

        test "#{other} behind #{name}: who has signed out stays so, whatever the other session has" do
          browser = browse(larder, type, options)
          ["/sign_in", "/in/count", "/sign_out", "/in/count"].each { |path| browser.get(path) }
          assert_equal "{}", browser.get("/")
          refute logged_in?
        end

        ["/in/sign_out", "/in/leave"].each do |path|
          test "#{other} behind #{name}: #{path} ends what Larder's session has" do
            browser = browse(larder, type, options)
            browser.get("/sign_in")
            browser.get(path)
            refute logged_in?
            assert_equal "{}", browser.get("/")
          end
        end

        test "#{name} behind #{other}: both have sessions, and each keeps its id" do
          browser = browse(type, larder, options, mine: :inside)
          assert_equal ['{"count":1}', '{"count":1,"user_id":7}', '{"count":1}', '{"count":1,"user_id":7}'],
                       ["/count", "/in/sign_in", "/", "/in/"].map { |path| browser.get(path) }
          assert_equal 2, browser.cookies.slice("mine", "other").values.uniq.size
        end

        test "#{name} behind #{other}: who is logged out is not signed in again by the other's session" do
          browser = browse(type, larder, options, mine: :inside)
          browser.get("/in/sign_in")
          assert_equal 1, ::Larder::Sessions.use(mine) { ::Larder::Sessions.logout(7) }
          assert_equal ["{}", "{}"], [browser.get("/in/"), browser.get("/")]
        end
      end

      test "a second middleware behind Larder's is reported once, with what to remove" do
        browser = browse(Larder, *OTHERS["Rack's cookies"])
        errors = reported { ["/sign_in", "/in/count", "/in/count"].each { |path| browser.get(path) } }
        assert_equal [::Larder::Sessions::NestedSessionsError], errors.map(&:class)
        assert_match %r{for GET /in/count\. .*disable :sessions.*use Rack::Session::Cookie}, errors.first.message
      end

      test "a Hash that is there before, as tests of applications give it, is taken over" do
        LARDERS.each do |name, larder|
          app = larder.new(PAGE, key: "mine", file: path_of("#{larder.object_id}.larder"), size: SIZE)
          answer = MockRequest.new(app).get("/count", "rack.session" => { "user_id" => 7, "count" => 4 })
          assert_equal '{"count":5,"user_id":7}', answer.body, name
        end
      end

      test "a session that is replaced by one that is not stored stays as it was" do
        disabled = ActionDispatch::Request::Session.disabled(ActionDispatch::Request.new({}))
        [disabled, {}, Class.new(Hash) { def enabled? = false }.new].each do |instead|
          app = lambda do |env|
            env["rack.session"] = instead unless env["PATH_INFO"] == "/sign_in"
            PAGE.call(env)
          end
          browser = Browser.new(Larder.new(app, key: "mine", file: path_of, size: SIZE))
          browser.get("/sign_in")
          browser.get("/")
          assert ::Larder::Sessions.logged_in?(7), instead.class.name
        end
      end

      test "Sinatra with its own sessions, mounted behind Larder's" do
        skip OptionalGem.missing("sinatra/base") if OptionalGem.missing("sinatra/base")
        LARDERS.each do |name, larder|
          web = sinatra { enable :sessions }
          browser = Browser.new(stack(larder, web, file: path_of("#{larder.object_id}.larder")))
          assert_equal ['{"user_id":7}', '{"count":1,"user_id":7}', '{"user_id":7}', '{"count":2,"user_id":7}'],
                       ["/sign_in", "/in/count", "/", "/in/count"].map { |path| browser.get(path) }, name
          browser.get("/sign_out")
          browser.get("/in/count")
          assert_equal "{}", browser.get("/"), name
        end
      end

      test "Sinatra that uses Larder's middleware besides its own sessions, and as these" do
        skip OptionalGem.missing("sinatra/base") if OptionalGem.missing("sinatra/base")
        options = { key: "mine", file: path_of, size: SIZE }
        [sinatra { enable(:sessions) && use(Larder, options) },
         sinatra { enable(:sessions) && set(session_store: Larder, sessions: options) },
         Larder.new(sinatra { disable :sessions }, options)].each do |app|
          browser = Browser.new(app)
          assert_equal ['{"user_id":7}', '{"count":1,"user_id":7}'],
                       ["/sign_in", "/count"].map { |path| browser.get(path) }
          assert_equal 1, ::Larder::Sessions.logout(7)
          assert_equal "{}", browser.get("/")
        end
      end

      private

      def mine
        @mine ||= ::Larder::Sessions.repository(file: path_of, size: SIZE)
      end

      def logged_in?
        ::Larder::Sessions.use(mine) { ::Larder::Sessions.logged_in?(7) }
      end

      # @param mine [Symbol] where Larder's middleware is that the test is about
      def browse(outside, inside, options, mine: :outside)
        own = { key: "mine", file: path_of, size: SIZE }
        options = { **options, file: path_of("other.larder") } if (mine == :outside ? inside : outside) == Larder
        inner = inside.new(PAGE, mine == :inside ? own : options)
        Browser.new(stack(outside, inner, **(mine == :inside ? options : own)))
      end

      def stack(outside, inner, **options)
        options = { key: "mine", size: SIZE, **options } if LARDERS.value?(outside)
        Builder.app do
          use ActionDispatch::Cookies
          use outside, options
          map("/in") { run inner }
          run PAGE
        end
      end

      def sinatra(&block)
        Class.new(Sinatra::Base) do
          set :environment, :production
          set :raise_errors, true
          set :show_exceptions, false
          set :host_authorization, permitted_hosts: []
          set :session_secret, SECRET
          class_exec(&block)
          get("*") { PAGE.call(env).last }
        end
      end
    end
  end
end
