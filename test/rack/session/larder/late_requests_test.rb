# frozen_string_literal: true

require "test_helper"
require "support/session_places"

module Rack
  module Session
    # Requests with the id that a session had before, and requests that overlap.
    class LarderLateRequestsTest < ActiveSupport::TestCase
      include TemporaryCaches
      include SessionPlaces

      RENEW = lambda do |request|
        request.session["user_id"]
        request.session.options[:renew] = true
      end
      SIGN_IN = lambda do |request|
        request.session["user_id"] = 7
        request.session["admin"] = { "id" => 8 }
      end
      # As an application signs a user out.
      SIGN_OUTS = {
        "clear"               => ->(request) { request.session.clear },
        "delete"              => ->(request) { request.session.delete(:user_id) },
        "an assignment"       => ->(request) { request.session["user_id"] = nil },
        "an update"           => ->(request) { request.session.update("user_id" => nil) },
        "replace"             => ->(request) { request.session.replace({}) },
        "clear and renew"     => lambda do |request|
          request.session.clear
          request.session.options[:renew] = true
        end,
        "clear and a message" => lambda do |request|
          request.session.clear
          request.session["notice"] = "bye"
        end,
        "destroy"             => ->(request) { request.session.destroy },
        "drop"                => lambda do |request|
          request.session.to_hash
          request.session.options[:drop] = true
        end,
        "bind(nil)"           => ->(_) { ::Larder::Sessions.bind(nil) },
        "logout(user)"        => ->(_) { ::Larder::Sessions.logout(7) }
      }.freeze

      setup do
        @place = {}
        @browser = Browser.new
      end

      SIGN_OUTS.each do |name, sign_out|
        in_each_place "a sign-out by #{name} with the former id ends the session" do
          shop = application
          @browser.get(shop, &SIGN_IN)
          slow = @browser.dup
          @browser.get(shop, &RENEW)
          assert_equal "7", user(shop)
          slow.get(shop, &sign_out)
          assert_equal ["nil", false], [user(shop), ::Larder::Sessions.logged_in?(7)]
        end
      end

      in_each_place "a sign-out with an id that was renewed twice ends the session" do
        shop = application
        @browser.get(shop, &SIGN_IN)
        slow = @browser.dup
        2.times { @browser.get(shop, &RENEW) }
        slow.get(shop, &SIGN_OUTS["delete"])
        assert_equal "nil", user(shop)
      end

      in_each_place "a sign-out by bind(nil) with the former id ends a session whose user was bound" do
        shop = application
        @browser.get(shop) { ::Larder::Sessions.bind(7) }
        slow = @browser.dup
        @browser.get(shop, &RENEW)
        assert ::Larder::Sessions.logged_in?(7)
        slow.get(shop, &SIGN_OUTS["bind(nil)"])
        refute ::Larder::Sessions.logged_in?(7)
      end

      in_each_place "a request with the former id that signs no user out leaves the session as it is" do
        shop = application
        @browser.get(shop, &SIGN_IN)
        slow = @browser.dup
        @browser.get(shop, &RENEW)
        slow.get(shop) do |request|
          request.session.delete("flash")
          request.session["admin_page"] = nil
          request.session["cart"] = 1
        end
        assert_equal ["7", "nil"], [user(shop), user(shop, slow.dup)]
      end

      in_each_place "a user who signs in twice at once, as by a double click, is signed in by the last answer" do
        shop = application
        @browser.get(shop) { |request| request.session["cart"] = 1 }
        sign_in = lambda do |request|
          request.session.clear
          request.session.options[:renew] = true
          request.session["user_id"] = 7
        end
        answers = Array.new(2) { @browser.answer(shop, &sign_in) }
        answers.reverse.each do |answer|
          @browser.take(answer)
          assert_equal "7", user(shop)
        end
      end

      # As an application signs a user in.
      SIGN_INS = {
        "a renewed id" => lambda do |request|
          request.session["user_id"] = 7
          request.session.options[:renew] = true
        end,
        "another session" => lambda do |request|
          request.session.destroy
          request.session["user_id"] = 7
        end,
        "a bound user" => lambda do |request|
          request.session.destroy
          ::Larder::Sessions.bind(7)
          request.session["user_id"] = 7
        end
      }.freeze
      # How a late request writes to its session.
      LATE = {
        "sets a value"     => ->(request) { request.session["notice"] = "late" },
        "renews its id"    => lambda do |request|
          request.session["notice"] = "late"
          request.session.options[:renew] = true
        end,
        "prolongs its cookie" => lambda do |request|
          request.session.options[:expire_after] = 3600
          request.session["notice"] = "late"
        end
      }.freeze

      SIGN_INS.to_a.product(LATE.to_a).each do |(way, sign_in), (what, late)|
        in_each_place "a late request with the id from before a sign-in with #{way}, which #{what}, keeps the cookie" do
          shop = application
          @browser.get(shop) { |request| request.session["cart"] = 1 }
          slow = @browser.dup
          @browser.get(shop, &sign_in)
          answer = slow.answer(shop, &late)
          @browser.take(answer)
          assert_equal [200, "7"], [answer.status, user(shop)]
        end
      end

      in_each_place "a late request with an id that was unknown before the sign-in keeps the cookie" do
        shop = application
        @browser.cookie = "rack.session=#{"a" * 64}"
        slow = @browser.dup
        @browser.get(shop, &SIGN_IN)
        @browser.take(slow.answer(shop, &LATE["sets a value"]))
        assert_equal "7", user(shop)
      end

      in_each_place "a browser that has not got the answer to its sign-in signs in again" do
        shop = application
        @browser.get(shop) { |request| request.session["cart"] = 1 }
        SIGN_INS.each_value do |sign_in|
          @browser.answer(shop, &sign_in)
          second = @browser.dup
          second.get(shop, &sign_in)
          assert_equal "7", user(shop, second)
        end
      end

      in_each_place "a browser whose session has ended gets another" do
        shop = application
        @browser.get(shop, &SIGN_IN)
        @browser.get(shop, &SIGN_OUTS["destroy"])
        before = @browser.cookie
        @browser.get(shop) { |request| request.session["notice"] = "hello" }
        assert_equal ["hello", true], [@browser.get(shop) { |request| request.session["notice"] }.body,
                                       before != @browser.cookie]
      end

      # name => what is set under a key, and what is read, by the libraries of flash messages
      FLASHES = {
        "Rails" => ["flash", ->(messages) { { "discard" => [], "flashes" => messages } }],
        "Sinatra" => ["flash", ->(messages) { messages }],
        "Roda and Hanami" => ["_flash", ->(messages) { messages }],
        "rack-flash" => ["__FLASH__", ->(messages) { messages }]
      }.freeze

      FLASHES.each do |library, (key, form)|
        in_each_place "two messages of overlapping requests are both kept, as #{library} stores them" do
          shop = application
          @browser.get(shop) { |request| request.session["cart"] = 1 }
          @browser.get(shop) do |request|
            request.session[key] = form.call("notice" => "saved")
            @browser.dup.get(shop) { |other| other.session[key] = form.call("alert" => "refused") }
          end
          assert_equal({ "alert" => "refused", "notice" => "saved" }, flash(shop, key))
        end

        in_each_place "a request that has shown a message leaves the one that came since, as #{library} stores them" do
          shop = application
          @browser.get(shop) { |request| request.session[key] = form.call("notice" => "old", "info" => "x") }
          @browser.get(shop) do |request|
            request.session.delete(key)
            @browser.dup.get(shop) { |other| other.session[key] = form.call("notice" => "new") }
          end
          assert_equal({ "notice" => "new" }, flash(shop, key))
          @browser.get(shop) { |request| request.session.delete(key) }
          assert_empty flash(shop, key)
        end
      end

      private

      def user(shop, browser = @browser)
        browser.get(shop) { |request| request.session["user_id"].inspect }.body
      end

      def flash(shop, key)
        messages = nil
        @browser.get(shop) { |request| messages = request.session[key] }
        messages.to_h.fetch("flashes", messages.to_h)
      end
    end
  end
end
