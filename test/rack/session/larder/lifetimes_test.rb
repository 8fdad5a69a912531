# frozen_string_literal: true

require "test_helper"
require "active_support/core_ext/integer/time"
require "active_support/testing/time_helpers"
require "support/session_places"

module Rack
  module Session
    # How long the server keeps a session, wherever it is: by the options of the application, and by those of a request.
    class LarderLifetimesTest < ActiveSupport::TestCase
      include ActiveSupport::Testing::TimeHelpers
      include TemporaryCaches
      include SessionPlaces

      USER = ->(request) { request.session["user_id"].inspect }

      setup do
        @place = {}
        @browser = Browser.new
      end

      in_each_place "a test that travels in time sees sessions end as entries of a cache do" do
        shop = application(idle_timeout: 14.days, anonymous_timeout: 1.hour, max_lifetime: 90.days)
        sign_in(shop)
        guest = Browser.new
        guest.get(shop) { |request| request.session["cart"] = 1 }
        travel(50.minutes) { assert_equal "1", cart(shop, guest) }
        travel(2.hours) { assert_equal ["nil", "7"], [cart(shop, guest), user(shop)] }
        travel(13.days) { assert_equal "7", user(shop) }
        travel(26.days) { assert_equal "7", user(shop) }
        travel(41.days) { assert_equal "nil", user(shop) }
        travel_back
      end

      in_each_place "a session that is used all the time ends after max_lifetime in a test that travels" do
        shop = application(idle_timeout: 14.days, max_lifetime: 30.days)
        sign_in(shop)
        [10, 20, 29].each { |days| travel(days.days) { assert_equal "7", user(shop) } }
        travel(31.days) { assert_equal "nil", user(shop) }
      end

      in_each_place "a question about users travels, too" do
        shop = application(idle_timeout: 14.days)
        sign_in(shop)
        assert ::Larder::Sessions.logged_in?(7)
        travel(15.days) { refute ::Larder::Sessions.logged_in?(7) }
      end

      in_each_place "the longest timeout that can be configured is one that sessions can have" do
        shop = application(idle_timeout: 20.years, anonymous_timeout: 20.years, max_lifetime: 20.years)
        sign_in(shop)
        guest = Browser.new
        guest.get(shop) { |request| request.session["cart"] = 1 }
        assert_equal ["7", "1"], [user(shop), cart(shop, guest)]
        assert ::Larder::Sessions.logged_in?(7)
      end

      %i[expire_after max_age].each do |option|
        in_each_place "a request that says #{option}: at a sign-in makes a short session short on the server" do
          shop = application
          sign_in(shop, option => 60)
          travel(50.seconds) { assert_equal "7", user(shop) }
          travel(50.seconds + 80.seconds) { assert_equal "nil", user(shop) }
        end

        in_each_place "a request that says #{option}: at a sign-in makes a session that outlives idle_timeout" do
          shop = application(idle_timeout: 30.days)
          sign_in(shop, option => 365.days)
          thief = @browser.dup
          travel(300.days) { assert_equal "7", user(shop) }
          travel(600.days) { assert_equal "7", user(shop) }
          travel(660.days) do
            assert_equal [1, "nil"], [::Larder::Sessions.logout(7), user(shop, thief)]
          end
        end
      end

      in_each_place "the lifetime that a session got from a request stays its own in later requests" do
        shop = application(expire_after: 30.days)
        sign_in(shop, expire_after: 60)
        user(shop)
        @browser.get(shop) { |request| request.session["cart"] = 1 }
        @browser.get(shop) { |request| request.session["user_id"] && request.session.options[:renew] = true }
        assert_equal 60, expiry(@browser.answer(shop, &USER))
        travel(100.seconds) { assert_equal "nil", user(shop) }
        sign_in(shop, expire_after: 365.days)
        user(shop)
        assert_equal 365 * 86_400, expiry(@browser.answer(shop, &USER))
        travel(364.days) { assert_equal "7", user(shop) }
      end

      in_each_place "a request returns a session to the lifetime that is configured" do
        shop = application(idle_timeout: 1.day)
        sign_in(shop, expire_after: 60)
        @browser.get(shop) { |request| request.session["user_id"] && request.session.options[:expire_after] = nil }
        travel(2.hours) { assert_equal "7", user(shop) }
        travel(1.day + 3.hours) { assert_equal "nil", user(shop) }
      end

      in_each_place "max_lifetime ends a session whatever its request says" do
        shop = application(max_lifetime: 1.day)
        sign_in(shop, expire_after: 365.days)
        travel(23.hours) { assert_equal "7", user(shop) }
        travel(25.hours) { assert_equal "nil", user(shop) }
      end

      in_each_place "an anonymous session has the lifetime that its request says" do
        shop = application
        @browser.get(shop) do |request|
          request.session.options[:expire_after] = 90.days
          request.session["cart"] = 1
        end
        travel(80.days) { assert_equal "1", cart(shop, @browser) }
        travel(80.days + 91.days) { assert_equal "nil", cart(shop, @browser) }
      end

      test "the index of users names a session for as long as its request says" do
        shop = application(idle_timeout: 1.day)
        sign_in(shop)
        sign_in(shop, expire_after: 365.days)
        assert_operator shop.repository.backend.cache.ttl("u/User/7"), :>, 365.days
      end

      test "a session that survives a loss of the file keeps the lifetime that its request said" do
        in_place(PLACES.fetch("with backed_by: Redis"))
        sign_in(application, expire_after: 365.days)
        sign_in(application, short = Browser.new, expire_after: 60)
        shop = application(file: path_of("another.larder"))
        travel(300.days) { assert_equal "7", user(shop) }
        travel(2.minutes) { assert_equal "nil", user(application(file: path_of("third.larder")), short) }
      end

      test "the session that follows a sign-out has the lifetime that is configured" do
        shop = application
        sign_in(shop, expire_after: 365.days)
        out = @browser.get(shop) do |request|
          request.session["user_id"]
          request.session.destroy
          request.session["notice"] = "bye"
        end
        refute_match(/expires/, out["set-cookie"].to_s)
        travel(2.days) { assert_equal "{}", @browser.get(shop) { |request| request.session.to_hash }.body }
      end

      test "a lifetime that no session can have is refused in the request that says it" do
        shop = application
        [-1, 0, Float::NAN, Float::INFINITY, "60", 1000.years].each do |given|
          error = assert_raises(::Larder::InvalidArgument, given.inspect) { sign_in(shop, expire_after: given) }
          assert_match(/\Aexpire_after: .* must be a number of seconds from 1 to/, error.message)
        end
        refute ::Larder::Sessions.logged_in?(7)
      end

      private

      def sign_in(shop, browser = @browser, **options)
        browser.get(shop) do |request|
          options.each { |name, value| request.session.options[name] = value }
          request.session["user_id"] = 7
        end
      end

      def user(shop, browser = @browser)
        browser.get(shop, &USER).body
      end

      def cart(shop, browser)
        browser.get(shop) { |request| request.session["cart"].inspect }.body
      end

      # Seconds that the browser is to keep the cookie of an answer. The answer came within ten seconds.
      def expiry(answer)
        seconds = Time.httpdate(Array(answer["set-cookie"]).join[/expires=([^;\n]+)/, 1]) - Time.now
        (seconds / 10.0).ceil * 10
      end
    end
  end
end
