# frozen_string_literal: true

require "test_helper"
require "json"

# The dashboard in a real Rails application, in a Ruby of its own: hidden in production, behind a controller, and below
# a constraint of the routes.
class RailsDashboardTest < ActiveSupport::TestCase
  include TemporaryDirectory

  APPLICATION = <<~'RUBY'
    require "action_controller/railtie"
    require "rack/test"
    require "larder"
    require "larder/dashboard"

    class Tiny < Rails::Application
      config.root = Dir.pwd
      config.load_defaults Rails::VERSION::STRING.to_f
      config.eager_load = false
      config.hosts.clear
      config.consider_all_requests_local = false
      config.logger = ActiveSupport::Logger.new("log.txt")
      config.secret_key_base = "0" * 64
      config.cache_store = :larder_store, { size: 2 << 20 }
      config.session_store :cookie_store, key: "session"
    end

    class AdminController < ActionController::Base
      protect_from_forgery with: :exception
      before_action { redirect_to(sign_in_path) unless session[:admin] }
    end

    class HomeController < ActionController::Base
      def sign_in
        session[:admin] = true
        head(:ok)
      end
    end

    Tiny.initialize!
    Tiny.routes.draw do
      get "/sign_in", to: "home#sign_in", as: :sign_in
      mount Larder::Dashboard => "/larder"
      mount Larder::Dashboard.new(base_controller: "AdminController") => "/admin/cache"
      constraints(->(request) { request.session[:admin] }) do
        mount Larder::Dashboard.new(allow: :route) => "/routed"
      end
    end

    include Rack::Test::Methods
    def app = Rails.application

    ANSWERS = {}
    def note(name)
      ANSWERS[name] = [last_response.status, last_response.headers["location"], last_response.body[/<h1>([^<]*)/, 1]]
    end

    def delete_key(mount, key)
      Rails.cache.write(key, 1)
      get "#{mount}/delete", key: key
      token = last_response.body[/name="token" value="(\h+)"/, 1]
      post "#{mount}/delete", { key: key, token: token }, { "HTTP_ORIGIN" => "http://example.org" }
      note("#{mount} deletes")
      ANSWERS["#{mount} leaves"] = Rails.cache.exist?(key)
    end

    %w[/larder /larder/keys /absent /admin/cache/keys /routed].each { |path| note(path) if get(path) }
    get "/sign_in"
    ["/admin/cache", "/routed"].each { |path| note("#{path} signed in") if get(path) }
    ANSWERS["file"] = File.exist?(Rails.cache.cache.path)
    delete_key("/admin/cache", "a")
    delete_key("/routed", "b")
    puts "ANSWERS #{ANSWERS.to_json}"
  RUBY

  def answers(environment)
    script = path_of("application.rb")
    File.write(script, APPLICATION)
    library = File.expand_path("../../lib", __dir__)
    out, status = Open3.capture2e({ "RAILS_ENV" => environment }, RbConfig.ruby, "-W0", "-I#{library}", script,
                                  chdir: directory)
    assert_predicate status, :success?, out
    JSON.parse(out[/^ANSWERS (.*)/, 1])
  end

  test "in production it is as if it were not there, until a controller or a constraint lets it be seen" do
    found = answers("production")
    assert_equal [404, nil, nil], found["/absent"]
    ["/larder", "/larder/keys", "/routed"].each { |path| assert_equal found["/absent"], found[path], path }
    assert_equal [302, "http://example.org/sign_in", nil], found["/admin/cache/keys"]
    ["/admin/cache", "/routed"].each do |mount|
      assert_equal [200, nil, "There is no file yet"], found["#{mount} signed in"]
      assert_equal [200, nil, "The key was deleted"], found["#{mount} deletes"]
      assert_equal false, found["#{mount} leaves"]
    end
    assert_equal false, found["file"]
    assert_equal 1, File.read(path_of("log.txt")).scan("the dashboard answers 404, outside of development").size
  end

  test "in development it is seen" do
    found = answers("development")
    assert_equal [200, nil, "There is no file yet"], found["/larder"]
    assert_equal 404, found["/routed"].first
  end
end
