# frozen_string_literal: true

require "test_helper"
require "active_support/testing/time_helpers"
require "rack/mock"
require "rack/session/larder"
require "support/servers"

module Larder
  module Sessions
    # Two machines, or two processes with one file. A session is renewed on one of them: while a request on the other
    # has found it, and asks for its handle or leaves it out of a logout; or at any time of its life.
    module RenewedElsewhereTests
      include ActiveSupport::Testing::TimeHelpers
      include TemporaryCaches

      # Seconds: the timeouts, and by how much a session may end later, as not each use is written.
      IDLE = 4000
      ANONYMOUS = 1200
      SHORT = 400
      LATER = 60
      # Actions of the application, by the path.
      DOES = {
        "/"           => ->(session, _) { session["user_id"] },
        "/sign_in"    => ->(session, user) { (session.options[:renew] = true) && session["user_id"] = user.to_i },
        "/sign_short" => lambda { |session, user|
          (session.options[:expire_after] = SHORT) && session["user_id"] = user.to_i
        },
        "/visit"      => ->(session, _) { session["cart"] = 1 },
        "/renew"      => ->(session, _) { (session.options[:renew] = true) && session["user_id"] },
        "/handle"     => ->(session, _) { Sessions.handle_of(session) },
        "/revoke"     => ->(session, _) { Sessions.revoke(Sessions.handle_of(session)) },
        "/end_others" => ->(session, user) { Sessions.logout(user.to_i, except: session) }
      }.freeze
      private_constant :IDLE, :ANONYMOUS, :SHORT, :LATER, :DOES

      def setup
        super
        @user = SecureRandom.random_number(1 << 40)
        @here = machine("here")
        @there = machine("there")
      end

      def teardown
        [@here, @there].compact.each do |one|
          larder = one.repository.backend.instance_variable_get(:@larder)
          larder&.instance_variable_get(:@backplane)&.stop
        end
        super
      end

      def test_a_request_revokes_its_session_also_after_other_renewals
        [1, 2].each do |times|
          cookie = get(@there, "/sign_in?#{@user}").last
          renewed = cookie
          answer = get(@here, "/revoke", cookie) { times.times { renewed = get(@there, "/renew", renewed).last } }
          refute_equal cookie, renewed
          assert_equal "true", answer.first
          assert_ended(renewed)
        end
      end

      def test_a_request_leaves_its_session_out_of_a_logout_also_after_other_renewals
        [1, 2].each do |times|
          cookie = get(@there, "/sign_in?#{@user}").last
          other = get(@there, "/sign_in?#{@user}").last
          renewed = cookie
          get(@here, "/end_others?#{@user}", cookie) { times.times { renewed = get(@there, "/renew", renewed).last } }
          assert_equal [@user.to_s] * 2, [@here, @there].map { |one| get(one, "/", renewed).first }
          assert_ended(other)
        end
      end

      def test_a_handle_that_a_page_shows_ends_its_user_s_session_after_renewals
        cookie = get(@there, "/sign_in?#{@user}").last
        handle = get(@there, "/handle", cookie).first
        renewed = 2.times.reduce(cookie) { |each, _| get(@there, "/renew", each).last }
        here = Statistics.new(@here.repository)
        refute here.revoke(handle, of: @user + 1)
        assert_equal @user.to_s, get(@here, "/", renewed).first
        assert here.revoke(handle, of: @user)
        assert_ended(renewed)
        refute here.revoke(handle, of: @user)
      end

      def test_an_id_from_before_a_sign_in_names_no_user
        ["/visit", "/sign_in?#{@user + 1}"].each do |before|
          planted = get(@there, before).last
          renewed = get(@there, "/sign_in?#{@user}", planted).last
          assert_equal "", get(@here, "/handle", planted).first
          assert_equal @user.to_s, get(@here, "/", renewed).first
        end
      end

      def test_idle_timeout_counts_from_the_last_use_under_any_id
        freeze_time
        cookie = get(@there, "/sign_in?#{@user}").last
        [@here, @there, @here].each do |machine|
          travel(IDLE - 1)
          assert_equal @user.to_s, get(machine, "/", cookie).first
          cookie = get(machine, "/renew", cookie).last
        end
        assert_ends_after(IDLE, cookie)
      end

      def test_a_renewal_is_a_use
        freeze_time
        cookie = get(@here, "/sign_in?#{@user}").last
        travel(IDLE - 1)
        assert_ends_after(IDLE, get(@there, "/renew", cookie).last)
      end

      def test_a_session_that_was_idle_for_too_long_is_not_renewed
        freeze_time
        cookie = get(@here, "/sign_in?#{@user}").last
        travel(IDLE + LATER)
        renewed = get(@there, "/renew", cookie).last
        assert_equal ["", ""], [@here, @there].map { |one| get(one, "/", renewed).first }
      end

      def test_a_session_that_a_user_signs_in_to_gets_the_timeout_of_users
        freeze_time
        cookie = get(@here, "/visit").last
        travel(ANONYMOUS - 1)
        assert_ends_after(IDLE, get(@there, "/sign_in?#{@user}", cookie).last)
      end

      def test_the_lifetime_that_a_request_gave_its_session_holds_under_another_id
        freeze_time
        cookie = get(@here, "/sign_short?#{@user}").last
        travel(SHORT - 1)
        assert_ends_after(SHORT, get(@there, "/renew", cookie).last)
      end

      private

      # The store keeps it for as long, and its user's entry longer.
      def assert_ends_after(seconds, cookie)
        lives = life_in_store("s/#{Digest::SHA256.digest(cookie.split("=", 2).last)}")
        assert_includes seconds..(seconds + LATER), lives if lives
        entry = life_in_store("u/User/#{@user}")
        assert_operator entry, :>, lives if lives
        travel(seconds - 1)
        assert Statistics.new(@here.repository).logged_in?(@user)
        assert Statistics.new(@there.repository).logged_in?(@user)
        travel(LATER + 1)
        refute Statistics.new(@here.repository).logged_in?(@user)
        assert_equal ["", ""], [@here, @there].map { |one| get(one, "/", cookie).first }
      end

      # Seconds, nil: the store does not tell. Its time does not travel.
      def life_in_store(key)
        backend = @here.repository.backend
        return backend.cache.ttl(key) if backend.respond_to?(:cache)
        return unless store[:cache].first == :redis_cache_store

        redis = Redis.new(url: url("redis"))
        redis.pttl(Backends::Store.name_of(key)) / 1000.0
      ensure
        redis&.close
      end

      # The block is called when the session has been found.
      def get(machine, path, cookie = nil, &found)
        answer = Rack::MockRequest.new(machine).get(path, { "HTTP_COOKIE" => cookie, "test.found" => found }.compact)
        [answer.body, Array(answer["set-cookie"]).join[/\A[^;]+/] || cookie]
      end

      def assert_ended(cookie)
        assert(eventually { [@here, @there].all? { |one| get(one, "/", cookie).first == "" } }, "it goes on")
      end

      def machine(name)
        Rack::Session::Larder.new(method(:respond), size: 1 << 20, file: path_of("#{name}.larder"),
                                                        idle_timeout: IDLE, anonymous_timeout: ANONYMOUS, **store)
      end

      def respond(env)
        session = env["rack.session"]
        session["user_id"] if env.key?("test.found")
        env["test.found"]&.call
        [200, {}, [DOES.fetch(env["PATH_INFO"]).call(session, env["QUERY_STRING"]).to_s]]
      end

      def url(server)
        TestServers.endpoint(server)&.fetch("url") || skip("#{server} is not installed")
      end
    end

    class RenewedInAFileTest < ActiveSupport::TestCase
      include RenewedElsewhereTests
      include Processes

      def store
        { ephemeral: true, file: path_of("one.larder") }
      end
    end

    class RenewedInRedisTest < ActiveSupport::TestCase
      include RenewedElsewhereTests
      include Processes

      def store
        { cache: [:redis_cache_store, { url: url("redis") }] }
      end
    end

    class RenewedInRedisWithCopiesTest < ActiveSupport::TestCase
      include RenewedElsewhereTests
      include Processes

      def store
        { cache: [:redis_cache_store, { url: url("redis") }], backplane: url("redis") }
      end
    end

    class RenewedInMemcachedTest < ActiveSupport::TestCase
      include RenewedElsewhereTests
      include Processes

      def store
        { cache: [:mem_cache_store, url("memcached"), { protocol: :meta }] }
      end
    end
  end
end
