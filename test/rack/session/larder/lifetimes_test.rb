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
    end
  end
end
