# frozen_string_literal: true

require "test_helper"
require "logger"
require "rack/mock"
require "rack/session/larder"
require "support/optional_gem"
require "support/reported_errors"

# Gems that sign users in by the session, in applications as their documentation has them, on Larder's sessions. None of
# them is configured for Larder.
class SignInGemsTest < ActiveSupport::TestCase
  include ReportedErrors
  include TemporaryCaches

  RODAUTH = OptionalGem.missing("rodauth", "roda", "sequel", "bcrypt")
  AUTHLOGIC = OptionalGem.missing("active_record", "sqlite3", "bcrypt", "action_controller", "rails", "authlogic")
  OMNIAUTH = OptionalGem.missing("omniauth")

  # As the gem oauth2 has it: it refers to its client, and that to connections.
  class AccessToken
    def initialize(client)
      @client = client
    end
  end

  # A browser, which keeps cookies.
  class Browser
    attr_reader :last

    def initialize(app)
      @app = app
      @cookies = {}
    end

    # @return [String] the body
    def request(path, method: :get, **params)
      header = @cookies.map { |name, value| "#{name}=#{value}" }.join("; ")
      @last = Rack::MockRequest.new(@app).request(method.to_s.upcase, path, { "HTTP_COOKIE" => header, params: params })
      Array(@last["set-cookie"]).flat_map { |one| one.split("\n") }.each do |one|
        name, value = one[/\A[^;]+/].split("=", 2)
        @cookies[name] = value
      end
      @last.body
    end
  end

  unless RODAUTH
    # An application of Roda's with Rodauth; another configuration of it is for administrators.
    def rodauth(**options)
      database = Sequel.sqlite
      %i[accounts admins].each do |table|
        database.create_table(table) do
          primary_key :id
          String :email
          String :password_hash
          Integer :status_id, default: 2
        end
        hash = BCrypt::Password.create("secret!", cost: 4)
        database[table].insert(id: 7, email: "ann@example.org", password_hash: hash)
      end
      Class.new(Roda) do
        use Rack::Session::Larder, **options
        plugin :middleware
        plugin(:rodauth, csrf: false) do
          enable :login, :logout
          SignInGemsTest.setup(self, database, :accounts)
        end
        plugin(:rodauth, csrf: false, name: :admin) do
          enable :login, :logout
          prefix "/admin"
          session_key_prefix "admin_"
          SignInGemsTest.setup(self, database, :admins)
        end
        route do |r|
          r.on("admin") { r.rodauth(:admin) }
          r.rodauth
          r.root { [rodauth.session_value, rodauth(:admin).session_value].inspect }
        end
      end.app
    end

    def self.setup(auth, database, table)
      auth.db database
      auth.accounts_table table
      auth.account_password_hash_column :password_hash
      auth.login_redirect "/"
      auth.logout_redirect "/"
      auth.already_logged_in { nil }
      auth.login_view { "" }
    end
  end

  test "Rodauth: an account is known, and one of a second configuration is another, without configuration" do
    skip RODAUTH if RODAUTH
    app = rodauth(file: path_of, size: SIZE)
    account, admin = Browser.new(app), Browser.new(app)
    errors = reported do
      account.request("/login", method: :post, login: "ann@example.org", password: "secret!")
      admin.request("/admin/login", method: :post, login: "ann@example.org", password: "secret!")
    end
    assert_equal ["[7, nil]", "[nil, 7]"], [account, admin].map { |browser| browser.request("/") }
    assert_empty errors
    assert_equal [true, true, false], known("Account/7", "Admin/7", "User/7")
    assert_equal 1, Larder::Sessions.logout("Account/7")
    assert_equal ["[nil, nil]", "[nil, 7]"], [account, admin].map { |browser| browser.request("/") }
  end

  test "Rodauth: who logs out is known no longer" do
    skip RODAUTH if RODAUTH
    browser = Browser.new(rodauth(file: path_of, size: SIZE))
    browser.request("/login", method: :post, login: "ann@example.org", password: "secret!")
    browser.request("/logout", method: :post)
    assert_equal ["[nil, nil]", [false]], [browser.request("/"), known("Account/7")]
  end

  unless AUTHLOGIC
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
    ActiveRecord::Schema.verbose = false
    ActiveRecord::Schema.define do
      create_table(:people) do |t|
        t.string :email, :crypted_password, :password_salt, :persistence_token
        t.timestamps
      end
    end

    # Its sessions are of PersonSession.
    class ::Person < ActiveRecord::Base
      acts_as_authentic do |config|
        config.log_in_after_create = false
        config.log_in_after_password_change = false
        config.crypto_provider = Authlogic::CryptoProviders::BCrypt
      end
    end

    class ::PersonSession < Authlogic::Session::Base
    end

    # Signs in and out as Authlogic's documentation does.
    class PeopleController < ActionController::Base
      def create
        session = PersonSession.new(email: params[:email], password: params[:password])
        session.save || raise(session.errors.full_messages.join(", "))
        head :created
      end

      def show
        render plain: PersonSession.find&.record&.id.inspect
      end

      def destroy
        PersonSession.find.destroy
        head :no_content
      end
    end
  end

  def authlogic(**options)
    person = Person.find_or_initialize_by(email: "ann@example.org")
    person.update!(password: "secret!!") if person.new_record?
    require "action_dispatch/middleware/session/larder_store"
    app = Rack::Builder.app do
      use ActionDispatch::Cookies
      use ActionDispatch::Session::LarderStore, key: "_app", **options
      %i[create show destroy].each { |action| map("/#{action}") { run PeopleController.action(action) } }
    end
    key = ActiveSupport::KeyGenerator.new("s" * 64, iterations: 1)
    [person, Browser.new(->(env) { app.call(env.merge("action_dispatch.key_generator" => key)) })]
  end

  test "Authlogic: who signs in and out is known, without configuration" do
    skip AUTHLOGIC if AUTHLOGIC
    person, browser = authlogic(file: path_of, size: SIZE)
    errors = reported { browser.request("/create", method: :post, email: person.email, password: "secret!!") }
    assert_equal [201, person.id.inspect], [browser.last.status, browser.request("/show")]
    assert_equal [[], [true]], [errors, known(person)]
    browser.request("/destroy", method: :post)
    assert_equal ["nil", [false]], [browser.request("/show"), known(person)]
  end

  test "Authlogic: who is logged out is signed in no longer" do
    skip AUTHLOGIC if AUTHLOGIC
    person, browser = authlogic(file: path_of, size: SIZE)
    browser.request("/create", method: :post, email: person.email, password: "secret!!")
    assert_equal 1, Larder::Sessions.logout(person)
    assert_equal "nil", browser.request("/show")
  end

  test "OmniAuth: a callback's whole answer, with objects of the provider, is put into the session" do
    skip OMNIAUTH if OMNIAUTH
    callback = lambda do |env|
      session = env["rack.session"]
      if env["omniauth.auth"]
        extra = { "access_token" => AccessToken.new(Mutex.new), "raw_info" => { "a" => :b } }
        session["auth"] = env["omniauth.auth"].merge("extra" => extra)
        session["user_id"] = 7
      end
      [200, {}, [session.to_hash.except("omniauth.params", "_csrf", "csrf", "omniauth.origin").to_json]]
    end
    OmniAuth.config.request_validation_phase = nil
    OmniAuth.config.logger = Logger.new(nil)
    omniauth = OmniAuth::Builder.new(callback) { provider :developer, fields: [:name], uid_field: :name }
    browser = Browser.new(Rack::Session::Larder.new(omniauth, file: path_of, size: SIZE))
    errors = reported do
      browser.request("/auth/developer", method: :post)
      browser.request("/auth/developer/callback", method: :post, name: "Ann")
    end
    read = JSON.parse(browser.request("/"))
    assert_equal [7, { "provider" => "developer", "uid" => "Ann", "info" => { "name" => "Ann" }, "credentials" => {},
                       "extra" => { "raw_info" => { "a" => "b" } } }], read.values_at("user_id", "auth")
    assert_equal [["auth", "SignInGemsTest::AccessToken"]], errors.map(&:about)
  end

  private

  def known(*users)
    users.map { |user| Larder::Sessions.logged_in?(user) }
  end
end
