# frozen_string_literal: true

require "test_helper"
require "action_controller"
require "action_dispatch/middleware/session/larder_store"
require "larder/sessions/authentication"
require "rack/mock"

module Larder
  module Sessions
    # A controller with an authentication of the shape that Rails 8 generates: the same methods, rows in memory.
    class AuthenticationTest < ActiveSupport::TestCase
      include TemporaryCaches

      User = Struct.new(:id)

      # A row of the table that the generated authentication has.
      Row = Struct.new(:id, :user) do
        class << self
          attr_accessor :all
        end

        def destroy
          self.class.all.delete(id)
        end
      end

      # What is generated, as far as it matters here.
      module Generated
        private

        def find_session_by_cookie
          Row.all[cookies[:session_id].to_i]
        end

        def start_new_session_for(user)
          row = Row.new(Row.all.size + 1, user)
          Row.all[row.id] = row
          cookies[:session_id] = row.id.to_s
          row
        end

        def terminate_session
          find_session_by_cookie&.destroy
          cookies.delete(:session_id)
        end
      end

      class Controller < ActionController::Base
        include Generated
        include Authentication

        def sign_in
          start_new_session_for(User.new(7))
          head :ok
        end

        def who
          render plain: find_session_by_cookie&.user&.id.inspect
        end

        def sign_out
          terminate_session
          head :ok
        end
      end

      setup do
        Row.all = {}
        @cookies = {}
        store = ActionDispatch::Session::LarderStore
        @apps = Hash.new do |apps, action|
          apps[action] = ActionDispatch::Cookies.new(store.new(Controller.action(action), key: "_s", file: path_of))
        end
      end

      test "who signs in is known, with a session of a new id" do
        assert_equal "nil", get(:who)
        get(:sign_in)
        assert_equal "7", get(:who)
        assert Sessions.logged_in?(User.new(7))
        before = @cookies["_s"]
        get(:sign_in)
        assert_not_equal before, @cookies["_s"]
        assert_equal 1, Sessions.for(User.new(7)).size
      end

      test "who signs out is known no longer" do
        get(:sign_in)
        get(:sign_out)
        assert_equal ["nil", false], [get(:who), Sessions.logged_in?(User.new(7))]
      end

      test "a session that was ended from outside opens nothing, and its row goes" do
        get(:sign_in)
        Sessions.logout(User.new(7))
        assert_equal "nil", get(:who)
        assert_empty Row.all
      end

      test "a stolen cookie of the table opens nothing without the session" do
        get(:sign_in)
        @cookies.delete("_s")
        assert_equal "nil", get(:who)
      end

      private

      def get(action)
        cookie = @cookies.map { |name, value| "#{name}=#{value}" }.join("; ")
        answer = Rack::MockRequest.new(@apps[action]).get("/", "HTTP_COOKIE" => cookie)
        Array(answer["set-cookie"]).flat_map { |header| header.split("\n") }.each do |header|
          name, value = header[/\A[^;]+/].split("=", 2)
          value.to_s.empty? ? @cookies.delete(name) : @cookies[name] = value
        end
        answer.body
      end
    end
  end
end
