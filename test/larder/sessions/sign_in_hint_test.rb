# frozen_string_literal: true

require "test_helper"
require "rack/mock"
require "rack/session/larder"
require "support/reported_errors"

module Larder
  module Sessions
    # Warnings about sessions that look signed in and are not known to be.
    class SignInHintTest < ActiveSupport::TestCase
      include ReportedErrors
      include TemporaryCaches

      # Values of sessions => the line that the warning names.
      HINTS = {
        { "account_id" => 7 } => "user: :account_id with the session store",
        { "rodauth_account_id" => 7 } => "user: :rodauth_account_id with",
        { "current_user" => 7 } => "user: :current_user with",
        { "logged_in_user" => "7" } => "user: :logged_in_user with",
        { "userid" => 7 } => "user: :userid with",
        { "me" => 7 } => "user: :me with",
        { "uid" => "123" } => "user: :uid with",
        { "user" => { "id" => 7 } } => 'user: ->(session) { session.dig("user", "id") } with',
        { "userinfo" => { "sub" => "auth0|1" } } => 'user: ->(session) { session.dig("userinfo", "sub") } with'
      }.freeze

      HINTS.each do |values, line|
        test "a session with #{values} is reported once, with the line" do
          app = store { |request| request.session.update(values) }
          errors = reported { 2.times { MockRequest.new(app).get("/") } }
          assert_equal [UnknownUserError], errors.map(&:class)
          assert_includes errors.first.message, "Say #{line}"
        end
      end

      test "the line that the warning names makes the user known" do
        lines = { { "account_id" => 7 } => :account_id,
                  { "user" => { "id" => 7 } } => ->(session) { session.dig("user", "id") } }
        lines.each do |values, user|
          app = store(user: user) { |request| request.session.update(values) }
          assert_empty(reported { MockRequest.new(app).get("/") })
          assert_equal [1], app.repository.sessions.map { |_, record| record.users.size }.to_a
        end
      end

      test "a value that is not a user is not reported" do
        [{ "cart" => { "id" => 7 } }, { "admin" => true }, { "step" => "account" }, { "user" => {} },
         { "referred_by_user_id" => 7 }, { "user_id" => 7, "account_id" => 9 }].each do |values|
          app = store { |request| request.session.update(values) }
          assert_empty(reported { MockRequest.new(app).get("/") }, values)
        end
      end

      test "Clearance signs users in by its own cookie: the line is named, and after it there is no warning" do
        Object.const_set(:Clearance, Module.new { const_set(:Session, Class.new) })
        app = store { |request| request.session["cart"] = 1 }
        errors = reported { 2.times { MockRequest.new(app).get("/") } }
        assert_equal [UnknownUserError], errors.map(&:class)
        assert_includes errors.first.message, "after_action { Larder::Sessions.bind(current_user) }"
        bound = store do |request|
          Sessions.bind(nil)
          request.session["cart"] = 1
        end
        assert_empty(reported { MockRequest.new(bound).get("/") })
      ensure
        Object.send(:remove_const, :Clearance)
      end

      MockRequest = Rack::MockRequest

      private

      def store(**options, &does)
        app = ->(env) { does.call(Rack::Request.new(env)) && [200, {}, []] }
        Rack::Session::Larder.new(app, { file: path_of("#{Process.clock_gettime(Process::CLOCK_MONOTONIC)}.larder"),
                                         size: 1 << 20, **options })
      end
    end
  end
end
