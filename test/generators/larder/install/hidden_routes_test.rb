# frozen_string_literal: true

require "test_helper"
require "rails"
require "action_dispatch"
require "generators/larder/install/hidden_routes"

class HiddenRoutesTest < ActiveSupport::TestCase
  # An application whose routes are loaded when they are asked for, as since Rails 8.
  Application = Struct.new(:routes, :drawn) do
    def reload_routes_unless_loaded
      routes.draw(&drawn)
    end
  end

  test "routes at the path and below it are found, others are not" do
    routes = drawn do
      get "larder", to: "a#b"
      namespace(:larder) { resources :items, only: :index }
      mount ->(_) { [200, {}, []] } => "/larder/app"
      get "larders", to: "a#b"
      get "other/larder", to: "a#b"
      get ":page", to: "a#b"
    end
    texts = Larder::Generators::HiddenRoutes.at("/larder", routes).map { |text| text.sub(/ \(.*/, "") }
    assert_equal ["GET /larder", "GET /larder/items", "/larder/app"], texts
  end

  test "an application without such routes has none" do
    assert_empty Larder::Generators::HiddenRoutes.at("/larder", drawn { root to: "a#b" })
  end

  test "routes that answer the path of a mount after them are found, others are not" do
    dashboard = Class.new { def self.name = "Larder::Dashboard" }
    dashboard.define_singleton_method(:call) { |_| [200, {}, []] }
    routes = drawn do
      get ":page", to: "a#b"
      post "*all", to: "a#b"
      get "elsewhere/*path", to: "a#b"
      mount ->(_) { [404, { "x-cascade" => "pass" }, []] } => "/"
      mount dashboard => "/larder"
      match "*path", to: "a#b", via: :all
      scope("admin") { mount dashboard => "/cache", as: :second }
    end
    found = Larder::Generators::HiddenRoutes.before("Larder::Dashboard", routes)
    assert_equal({ "/larder" => ["GET /:page"], "/admin/cache" => ["/*path"] },
                 found.transform_values { |texts| texts.map { |text| text.sub(/ \(.*/, "") } })
    assert_empty Larder::Generators::HiddenRoutes.before("Larder::Metrics", routes)
  end

  test "an object that is mounted is found by its class" do
    require "larder/metrics"
    routes = drawn do
      match "*path", to: "a#b", via: :all
      mount Larder::Metrics.new(token: "secret") => "/metrics"
    end
    assert_equal ["/metrics"], Larder::Generators::HiddenRoutes.before("Larder::Metrics", routes).keys
  end

  private

  def drawn(&block)
    Application.new(ActionDispatch::Routing::RouteSet.new, block)
  end
end
