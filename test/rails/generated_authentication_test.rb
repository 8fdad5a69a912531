# frozen_string_literal: true

require "test_helper"
require "json"
require "rails"

# A real Rails application with the authentication that Rails 8 generates, made by Rails' own generators. Larder's file
# has its sessions.
class GeneratedAuthenticationTest < ActiveSupport::TestCase
  include TemporaryDirectory

  ROOT = File.expand_path("../..", __dir__)
  SKIPPED = %w[action-mailbox action-text active-storage asset-pipeline bootsnap brakeman bundle bundler-audit ci
               dev-gems devcontainer docker git hotwire javascript jbuilder kamal rubocop solid system-test test
               thruster].freeze

  # The lines that the guide has an application add, by the line that they follow.
  INTEGRATION = {
    ["app/controllers/application_controller.rb", /include Authentication\n/] =>
      "  include Larder::Sessions::Authentication\n",
    ["app/models/session.rb", /class Session.*\n/]                            =>
      "  include Larder::Sessions::Authentication::Rows\n",
    ["app/channels/application_cable/connection.rb", /class Connection.*\n/]  =>
      "    prepend Larder::Sessions::Authentication::Connection\n"
  }.freeze

  LINES = {
    ["config/application.rb", /class Application.*\n/] => <<~RUBY,
      config.session_store :larder_store, key: "_app", size: "2MB", ephemeral: true
      config.hosts.clear
      config.action_controller.allow_forgery_protection = false
      config.action_cable.disable_request_forgery_protection = true
    RUBY
    ["config/application.rb", /^Bundler.require.*\n/]                 => %(require "larder"\n),
    ["config/routes.rb", /routes.draw do\n/]                          =>
      %(root "homes#show"\ndelete "everywhere" => "homes#destroy"\npost "cart" => "homes#create"\n),
    ["app/controllers/application_controller.rb", /allow_browser.*\n/] => ""
  }.freeze

  HOMES = <<~RUBY
    class HomesController < ApplicationController
      allow_unauthenticated_access only: :create

      def show
        render plain: [Current.user.id, session[:cart]].to_json
      end

      def create
        session[:cart] = 1
        head :no_content
      end

      def destroy
        Current.user.sessions.destroy_all
        head :no_content
      end
    end
  RUBY

  HELPERS = <<~RUBY
    require "action_dispatch/testing/integration"
    require "puma"
    require "json"
    ActiveModel::SecurePassword.min_cost = true
    %w[ann bob].each { |name| User.create!(email_address: "\#{name}@example.org", password: "secret!") }

    def signed_in(name = "ann", on: ActionDispatch::Integration::Session.new(Rails.application))
      on.post("/session", params: { email_address: "\#{name}@example.org", password: "secret!" })
      on
    end

    def who(browser)
      browser.get("/")
      browser.response.redirect? ? browser.response.location[%r{/session/new}] : JSON.parse(browser.response.body)
    end

    # What Action Cable says first to this browser, by a real WebSocket.
    def cable(browser)
      server = Puma::Server.new(Rails.application, nil, { log_writer: Puma::LogWriter.null })
      port = server.add_tcp_listener("127.0.0.1", 0).addr[1]
      server.run
      socket = TCPSocket.new("127.0.0.1", port)
      cookies = browser.cookies.to_hash.map { |name, value| "\#{name}=\#{Rack::Utils.escape(value)}" }.join("; ")
      socket.write("GET /cable HTTP/1.1\\r\\nHost: 127.0.0.1:\#{port}\\r\\nConnection: Upgrade\\r\\n" \\
                   "Upgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nCookie: \#{cookies}\\r\\n" \\
                   "Sec-WebSocket-Key: \#{["k" * 16].pack("m0")}\\r\\n\\r\\n")
      answer = +""
      answer << socket.readpartial(4096) until answer[/"type":"(welcome|disconnect)"/]
      $1
    ensure
      socket&.close
      server&.stop(true)
    end

    def known(user = 1)
      [Larder::Sessions.logged_in?(user), Larder::Sessions.for(user).size, User.find(user).sessions.count]
    end
  RUBY

  def setup
    super
    skip "Rails #{Rails::VERSION::STRING} generates no authentication" if Rails::VERSION::MAJOR < 8
    FileUtils.cp_r(self.class.application, app)
  end

  test "who signs in is known, under a new id, and may use Action Cable" do
    assert_equal [true, [1, 1], [true, 1, 1], "welcome"], in_application(<<~RUBY)
      one = ActionDispatch::Integration::Session.new(Rails.application)
      one.post("/cart")
      before = one.cookies["_app"]
      signed_in(on: one)
      [before != one.cookies["_app"], who(one), known, cable(one)]
    RUBY
  end

  test "who signs out is known no longer, and keeps the rest of the session" do
    assert_equal [[false, 0, 0], "/session/new", [1, 1]], in_application(<<~RUBY)
      one = signed_in
      one.post("/cart")
      one.delete("/session")
      [known, who(one), who(signed_in(on: one))]
    RUBY
  end

  test "who is logged out from outside opens nothing, nor Action Cable, though the row is there" do
    assert_equal [1, [false, 0, 1], "disconnect", "/session/new", [1, nil], "welcome"], in_application(<<~RUBY)
      one = signed_in
      [Larder::Sessions.logout(User.find(1)), known, cable(one), who(one), who(signed_in(on: one)), cable(one)]
    RUBY
  end

  test "a user who is deleted together with the rows is known no longer" do
    assert_equal [true, false, 0], in_application(<<~RUBY)
      signed_in
      before = Larder::Sessions.logged_in?(1)
      User.transaction do
        Session.where(user_id: 1).destroy_all
        User.where(id: 1).delete_all
      end
      [before, Larder::Sessions.logged_in?(1), Larder::Sessions.for(1).size]
    RUBY
  end

  test "a session that is revoked opens nothing, and the user's others go on" do
    assert_equal ["disconnect", "/session/new", "welcome", [1, nil]], in_application(<<~RUBY)
      one = signed_in
      handle = Larder::Sessions.for(1).first.handle
      other = signed_in
      Larder::Sessions.revoke(handle)
      [cable(one), who(one), cable(other), who(other)]
    RUBY
  end

  test "with the rows of a user the sessions end, and no others" do
    assert_equal [[false, 0, 0], ["/session/new"] * 2, "disconnect", [true, 1, 1], [2, nil]], in_application(<<~RUBY)
      mine = [signed_in, signed_in]
      bob = signed_in("bob")
      User.find(1).sessions.destroy_all
      [known, mine.map { |one| who(one) }, cable(mine.first), known(2), who(bob)]
    RUBY
  end

  test "a request that destroys all rows of its user ends all sessions, and keeps what else is in its own" do
    assert_equal [204, [false, 0, 0], ["/session/new"] * 2, [1, 1]], in_application(<<~RUBY)
      mine = [signed_in, signed_in]
      mine.first.post("/cart")
      mine.first.delete("/everywhere")
      [mine.first.response.status, known, mine.map { |one| who(one) }, who(signed_in(on: mine.first))]
    RUBY
  end

  test "a row that is rolled back ends nothing" do
    assert_equal [[true, 1, 1], [1, nil]], in_application(<<~RUBY)
      one = signed_in
      Session.transaction do
        User.find(1).sessions.destroy_all
        raise ActiveRecord::Rollback
      end
      [known, who(one)]
    RUBY
  end

  test "a row that goes without Rails' knowledge ends the session at the next request" do
    assert_equal ["/session/new", [false, 0, 0]], in_application(<<~RUBY)
      one = signed_in
      Session.delete_all
      [who(one), known]
    RUBY
  end

  test "the signed cookie alone opens nothing" do
    assert_equal ["/session/new", "disconnect", [true, 1, 1]], in_application(<<~RUBY)
      one = signed_in
      one.cookies.delete("_app")
      [who(one), cable(one), known]
    RUBY
  end

  class << self
    # @return [String] directory of the application, which is made once and copied by each test
    def application
      @application ||= Dir.mktmpdir("larder-test-").then do |directory|
        Minitest.after_run { FileUtils.rm_rf(directory) }
        File.join(directory, "app").tap { |app| make(app) }
      end
    end

    # @return [String] what a Ruby in the directory prints
    def run_in(directory, *command)
      output, status = Open3.capture2e({ "RAILS_ENV" => "development" }, RbConfig.ruby, "-I#{ROOT}/lib", *command,
                                       chdir: directory)
      status.success? ? output : raise("#{command.join(" ")}: #{output}")
    end

    private

    def make(app)
      run_in(File.dirname(app), "-S", "rails", "new", "app", *SKIPPED.map { |name| "--skip-#{name}" })
      insert(app, LINES)
      File.write(File.join(app, "app/controllers/homes_controller.rb"), HOMES)
      run_in(app, "bin/rails", "generate", "authentication")
      run_in(app, "bin/rails", "db:migrate")
      insert(app, INTEGRATION)
    end

    def insert(app, lines)
      lines.each do |(name, after), added|
        path = File.join(app, name)
        text = File.read(path)
        raise "#{name} has no line #{after.inspect}" unless text.match?(after)

        File.write(path, text.sub(after) { added.empty? ? "" : "#{$&}#{added}" })
      end
    end
  end

  private

  def app
    path_of("app")
  end

  def in_application(script)
    File.write(path_of("script.rb"), "#{HELPERS}\nanswer = begin\n#{script}\nend\nputs JSON.generate(answer)\n")
    JSON.parse(self.class.run_in(app, "bin/rails", "runner", "--skip-executor", path_of("script.rb")).lines.last)
  end
end
