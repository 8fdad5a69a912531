# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "rack/mock"
require "rack/session/larder"
require "support/cut_proxy"
require "support/moved_clock"
require "support/servers"

module Rack
  module Session
    # The store of cache: or backed_by: stops answering at each point of a request. A session that is there is never
    # taken for one that is not: no answer lacks its user, or brings another cookie.
    module LarderUnansweredTests
      include TemporaryCaches
      include Processes

      # Actions of the application, by the path.
      DOES = {
        "/page"     => ->(*) { "page" },
        "/sign_in"  => ->(session, user) { (session.options[:renew] = true) && session["user_id"] = user },
        "/who"      => ->(session, _) { session["user_id"] },
        "/change"   => ->(session, _) { (session["n"] = session["n"].to_i + 1) && session["user_id"] },
        "/renew"    => ->(session, _) { (session.options[:renew] = true) && session["user_id"] },
        "/sign_out" => ->(session, _) { session.destroy && nil },
        "/switch"   => ->(session, user) { session["user_id"] = "another #{user}" },
        "/clear"    => ->(session, _) { session.clear && nil },
        "/visit"    => ->(session, _) { session["seen"] = 1 }
      }.freeze
      # More requests than any of these sends to the store, and the distance between the points that are tried.
      MOST = 150
      STEP = ENV["LARDER_SLOW_TESTS"] ? 1 : 3
      # Seconds after which each pause is over that follows a failure.
      PAUSES = 6
      private_constant :DOES, :MOST, :STEP, :PAUSES

      # A browser of a user of its own.
      class Browser
        attr_accessor :cookie
        attr_reader :user

        def initialize(application, user = SecureRandom.hex(8))
          @application = application
          @user = user
        end

        def get(path)
          answer = MockRequest.new(@application).get("#{path}?#{user}", { "HTTP_COOKIE" => cookie }.compact)
          self.cookie = Array(answer["set-cookie"]).join[/\A[^;]+/] || cookie
          answer
        end
      end

      def self.included(base)
        base.class_eval do
          setup { start }
          teardown do
            @machines&.each { |one| stop(one) }
            @proxies&.each(&:stop)
          end
        end
      end

      def test_a_request_that_fails_at_any_point_signs_nobody_out
        at_each_point("/who", "/change", "/renew") do |browser, answer|
          assert_equal browser.user, answer.body if answer.status == 200
          assert_served_as_user(browser)
        end
      end

      def test_a_sign_in_that_is_answered_is_kept_and_another_gives_no_cookie
        at_each_point("/sign_in", browser: -> { browser }) do |browser, answer|
          answer.status == 200 ? assert_served_as_user(browser) : assert_nil(browser.cookie)
        end
      end

      def test_a_sign_out_that_is_answered_signs_out
        at_each_point("/sign_out", "/clear") do |browser, answer|
          next unless answer.status == 200

          assert_served(browser, "/who", "")
        end
      end

      def test_a_sign_in_of_another_user_that_is_answered_is_kept
        at_each_point("/switch") do |browser, answer|
          next unless answer.status == 200

          assert_served(browser, "/who", answer.body)
        end
      end

      def test_a_machine_without_a_copy_that_cannot_ask_does_not_take_the_session_for_gone
        %w[/who /change /renew /sign_out /clear].each do |path|
          mine = other_machine_of(signed_in)
          cookie = mine.cookie
          @proxy.cut
          2.times { assert_unserved(mine.get(path)) }
          assert_equal cookie, mine.cookie
          @proxy.heal
          assert_served_as_user(mine)
        end
      end

      def test_a_page_without_a_session_is_served
        mine = signed_in
        @proxy.cut
        assert_equal [200, "page", nil], mine.get("/page").then { |it| [it.status, it.body, it["set-cookie"]] }
      end

      def test_a_cookie_with_an_expiry_is_left_as_it_is
        @application = application(expire_after: 3600)
        mine = signed_in
        refute_nil mine.get("/page")["set-cookie"]
        mine = other_machine_of(mine)
        @proxy.cut
        assert_equal [200, "page", nil], mine.get("/page").then { |it| [it.status, it.body, it["set-cookie"]] }
        @proxy.heal
        assert_served_as_user(mine)
      end

      def test_an_error_page_of_the_application_for_it_is_replaced
        @on_error = ->(error) { [500, {}, ["Sorry: #{error.class}"]] }
        mine = other_machine_of(signed_in)
        @proxy.cut
        assert_unserved(mine.get("/who"))
      end

      def test_a_request_waits_for_one_call_of_a_store_that_hangs
        hanging = %w[/change /sign_out].product([false, true]).map do |path, other|
          mine = signed_in(Browser.new(application(proxy = new_proxy)))
          [path, other ? other_machine_of(mine, proxy) : mine, proxy]
        end
        hanging.each { |_, _, proxy| proxy.cut(hang: true) }
        hanging.map { |path, mine, _| Thread.new { mine.get(path) } }.each(&:join)
        hanging.each do |path, mine, proxy|
          assert_includes 1..2, proxy.refused, "#{path}: a call and its repetition"
          proxy.heal
          assert_served(mine, "/visit")
        end
      end

      private

      # Yields what a browser gets when the store fails after that number of requests, and the store is there again.
      def at_each_point(*paths, browser: -> { signed_in })
        tried = 0
        paths.each do |path|
          (0..MOST).step(STEP) do |point|
            mine = browser.call
            @proxy.cut(after: point)
            answer = mine.get(path)
            reached = @proxy.refused
            tried += reached
            assert_unserved(answer) unless answer.status == 200
            @proxy.heal
            yield mine, answer
            break if reached.zero?

            flunk "#{path} sends more than #{MOST} requests" if point + STEP > MOST
          end
        end
        assert_operator tried, :>, 0
      end

      def assert_served(browser, path, body = nil)
        answer = served(browser, path)
        assert_equal [200, body || answer.body], [answer.status, answer.body]
      end

      def assert_served_as_user(browser)
        assert_served(browser, "/who", browser.user)
      end

      def assert_unserved(answer)
        assert_equal [503, "1", nil], [answer.status, answer["retry-after"], answer["set-cookie"]]
      end

      # Sends the request in the pause after a failure, if there was one, and then after the pause.
      #
      # @return [MockResponse] the first that is not 503
      def served(browser, path)
        answer = browser.get(path)
        return answer unless answer.status == 503

        MovedClock.forward(PAUSES)
        eventually { (answer = browser.get(path)).status != 503 }
        answer
      end

      def browser
        Browser.new(@application)
      end

      def signed_in(mine = browser)
        mine.tap { assert_served(mine, "/sign_in") }
      end

      # A browser at a machine without a copy of the session: another one, or with backed_by: this one after its file
      # was lost.
      def other_machine_of(browser, proxy = @proxy)
        same = Browser.new(@application = application(proxy), browser.user)
        same.cookie = browser.cookie
        same
      end

      def application(proxy = @proxy, **options)
        @options = options if options.any?
        @files = @files.to_i + 1
        given = { size: 1 << 20, file: path_of("sessions#{@files}.larder"), **store(proxy), **@options.to_h }
        Larder.new(method(:respond), given).tap { |made| (@machines ||= []) << made }
      end

      def respond(env)
        [200, {}, [DOES.fetch(env["PATH_INFO"]).call(env["rack.session"], env["QUERY_STRING"]).to_s]]
      rescue StandardError => error
        raise unless @on_error

        @on_error.call(error)
      end

      def start
        @server = TestServers.server(self.class::SERVER) || skip("#{self.class::SERVER} is not installed")
        @proxy = new_proxy
        @application = application
      end

      def new_proxy
        CutProxy.new(@server.endpoint.fetch("url").delete_prefix("unix://")).tap { |proxy| (@proxies ||= []) << proxy }
      end

      def stop(machine)
        larder_of(machine)&.instance_variable_get(:@backplane)&.stop
      end

      # @return [ActiveSupport::Cache::LarderStore, nil]
      def larder_of(machine)
        machine.repository.backend.instance_variable_get(:@larder)
      end

      def redis(proxy)
        [:redis_cache_store, { url: "redis://127.0.0.1:#{proxy.port}" }]
      end
    end

    class LarderUnansweredRedisTest < ActiveSupport::TestCase
      SERVER = "redis"
      include LarderUnansweredTests

      def store(proxy)
        { cache: redis(proxy) }
      end

      test "a new session that cannot be stored is not answered with a cookie" do
        @proxy.cut
        assert_unserved(browser.get("/visit"))
        assert_equal 200, browser.get("/who").status
      end
    end

    class LarderUnansweredRedisThatIsMadeTest < ActiveSupport::TestCase
      SERVER = "redis"
      include LarderUnansweredTests

      def store(proxy)
        { cache: ActiveSupport::Cache.lookup_store(*redis(proxy)) }
      end
    end

    class LarderUnansweredMemcachedTest < ActiveSupport::TestCase
      SERVER = "memcached"
      # The client's own pauses after a failure, in seconds. MovedClock does not end them.
      SOON = { down_retry_delay: 0, socket_failure_delay: 0.01 }.freeze
      private_constant :SOON
      include LarderUnansweredTests

      def store(proxy)
        { cache: [:mem_cache_store, "127.0.0.1:#{proxy.port}", SOON] }
      end
    end

    # With copies of the sessions on each machine.
    class LarderUnansweredCopiesTest < ActiveSupport::TestCase
      SERVER = "redis"
      include LarderUnansweredTests

      def store(proxy)
        { cache: redis(proxy), backplane: TestServers.endpoint("redis")["url"] }
      end

      test "a session with a copy is found while the store is gone, and a change of it is not taken for stored" do
        mine = signed_in
        assert(eventually { mine.get("/who") && larder_of(@machines.sole).cache.trusted? })
        @proxy.cut
        assert_equal [200, mine.user], mine.get("/who").then { |answer| [answer.status, answer.body] }
        assert_unserved(mine.get("/change"))
        # Copies are not trusted for a moment where the backplane's answer is late.
        found = eventually { mine.get("/who").then { |answer| answer if answer.status == 200 } }
        assert_equal mine.user, found&.body
      end
    end

    # The file has the sessions, and the store copies of them.
    class LarderUnansweredBehindTest < ActiveSupport::TestCase
      SERVER = "redis"
      include LarderUnansweredTests

      def store(proxy)
        { backed_by: redis(proxy) }
      end

      test "users who are in the file are served while the store is gone, also if they sign in then" do
        mine = signed_in
        @proxy.cut
        assert_equal [mine.user] * 3, [mine.get("/who"), mine.get("/change"), mine.get("/renew")].map(&:body)
        assert_equal 200, mine.get("/sign_out").status
        other = signed_in
        assert_equal other.user, other.get("/who").body
      end
    end
  end
end
