# frozen_string_literal: true

require "test_helper"
require "json"

# The pages of machines and sessions in a real Rails application, in a Ruby of its own.
class RailsDashboardPagesTest < ActiveSupport::TestCase
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
      config.cache_store = eval(ARGV.first)
      config.session_store :larder_store, ephemeral: true
    end

    class HomeController < ActionController::Base
      def sign_in
        Rails.cache.write("k", 1)
        reset_session
        session[:user_id] = 7
        session[:agent] = "Firefox"
        head(:ok)
      end
    end

    Tiny.initialize!
    Tiny.routes.draw do
      get "/sign_in", to: "home#sign_in"
      mount Larder::Dashboard.new(allow: :route, actor: ->(request) { request.session[:user_id] }) => "/larder"
    end

    BROWSER = Rack::Test::Session.new(Rails.application)
    ANSWERS = {}
    def note(name, answer)
      ANSWERS[name] = [answer.status, answer.body.gsub(/<[^>]*>/, " ").gsub(/\s+/, " ")]
    end

    def sign_out
      token = BROWSER.get("/larder/sessions/end", user: "7").body[/name="token" value="(\h+)"/, 1]
      sent = { user: "7", token: token }
      note("end", BROWSER.post("/larder/sessions/end", sent, { "HTTP_ORIGIN" => "http://example.org" }))
      ANSWERS["signed in"] = Larder::Sessions.logged_in?(7)
    end
    at_exit { puts "ANSWERS #{ANSWERS.to_json}" }
  RUBY
  MACHINES = <<~'RUBY'
    ["machines", "sessions"].each { |page| note("#{page} at first", BROWSER.get("/larder/#{page}")) }
    ANSWERS["files"] = Dir["storage/**/*.larder"].map { |path| File.basename(path) }
    BROWSER.get "/sign_in"
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
    sleep 0.01 until Rails.cache.remote.read_listed("larder/machines") ||
                     Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    ANSWERS["published"] = Rails.cache.remote.read_listed("larder/machines")
    ["machines", "sessions", "sessions/user?user=7"].each { |page| note(page, BROWSER.get("/larder/#{page}")) }
    events = []
    ActiveSupport::Notifications.subscribe("dashboard_sign_out.larder") { |event| events << event.payload }
    sign_out
    ANSWERS["events"] = events
  RUBY
  SIGN_OUT = <<~RUBY
    BROWSER.get "/sign_in"
    note("sessions", BROWSER.get("/larder/sessions"))
    sign_out
  RUBY

  # @return [Hash] what an application with that cache notes in the script
  def answers(script, cache_store)
    File.write(path_of("application.rb"), APPLICATION + script)
    library = File.expand_path("../../lib", __dir__)
    out, status = Open3.capture2e({ "RAILS_ENV" => "production" }, RbConfig.ruby, "-W0", "-I#{library}",
                                  path_of("application.rb"), cache_store, chdir: directory)
    assert_predicate status, :success?, out
    JSON.parse(out[/^ANSWERS (.*)/, 1])
  end

  test "sessions end also if the application's cache is another store" do
    found = answers(SIGN_OUT, ":memory_store")
    assert_match(/Signed in 1 /, found["sessions"].last)
    assert_match(/1 session was ended/, found["end"].last)
    assert_equal false, found["signed in"]
  end

  test "machines publish after a request, and the sessions are those of the application" do
    found = answers(MACHINES, '[:larder_store, { size: 2 << 20, remote: [:file_store, "remote"] }]')
    assert_match(/There is no file yet/, found["machines at first"].last)
    assert_match(/There are no sessions yet/, found["sessions at first"].last)
    assert_empty found["files"]
    assert_match(/\A\{"\h{16}":\d+\}\z/, found["published"])
    assert_match(/1 machine .* this machine .*Copies are trusted/, found["machines"].last)
    assert_match(/Signed in 1 /, found["sessions"].last)
    assert_match(/Sessions of User\/7.*Firefox/, found["sessions/user?user=7"].last)
    assert_match(/1 session was ended/, found["end"].last)
    assert_equal [{ "user" => "User/7", "handle" => nil, "count" => 1, "actor" => 7 }], found["events"]
    assert_equal false, found["signed in"]
  end
end
