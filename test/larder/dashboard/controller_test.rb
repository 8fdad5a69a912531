# frozen_string_literal: true

require "support/dashboard_case"
require "action_controller"
require "action_dispatch"

module Larder
  class Dashboard
    # A dashboard behind a controller of the application, mounted by the routes of Rails.
    class ControllerTest < DashboardCase
      # The callbacks of an application, which protects its forms.
      class AdminController < ActionController::Base
        class << self
          # @return [Boolean] is there a user?
          attr_accessor :signed_in
        end

        protect_from_forgery with: :exception
        before_action { redirect_to(sign_in_path) unless AdminController.signed_in }

        def hello
          render(plain: sign_in_path)
        end
      end

      NAME = "Larder::Dashboard::ControllerTest::AdminController"

      setup { use(base_controller: NAME) }

      # As the middleware of a Rails application.
      def mounted(dashboard)
        routes = ActionDispatch::Routing::RouteSet.new
        routes.draw do
          mount(Rack::Lint.new(dashboard) => "/larder", as: :larder)
          get("/sign_in", to: ->(_env) { [200, {}, ["sign in"]] }, as: :sign_in)
        end
        AdminController.include(routes.url_helpers)
        secrets = { "action_dispatch.routes" => routes, "action_dispatch.secret_key_base" => "0" * 64,
                    "action_dispatch.show_exceptions" => :none }
        ->(env) { routes.call(env.merge!(secrets, "ROUTES_#{routes.object_id}_SCRIPT_NAME" => "")) }
      end

      teardown { AdminController.signed_in = false }

      test "its callbacks decide, and their paths are those of the application" do
        get("/larder/keys")
        assert_equal [302, "http://example.org/sign_in"],
                     [last_response.status, last_response.headers["location"]]
        AdminController.signed_in = true
        assert_match(%r{href="/larder/keys"}, page("keys"))
        assert_match(/frame-ancestors 'none'/, last_response.headers["content-security-policy"])
        assert_equal %w[DENY no-store], last_response.headers.values_at("x-frame-options", "cache-control")
      end

      test "it is access enough outside of development, and forms have the token of the dashboard" do
        ENV["RACK_ENV"] = "production"
        AdminController.signed_in = true
        cache.set("a", "1")
        page("delete", key: "a")
        send_form("delete", key: "a")
        assert_equal 200, last_response.status
        refute cache.exist?("a")
        cache.set("a", "1")
        send_form("delete", key: "a", token: "0" * 64)
        assert_equal 403, last_response.status
        assert cache.exist?("a")
      end

      test "a controller that is not there is named" do
        use(base_controller: "MissingController")
        error = assert_raises(::ArgumentError) { get("/larder/") }
        assert_match(/base_controller: "MissingController" of Larder::Dashboard names no controller/, error.message)
      end
    end
  end
end
