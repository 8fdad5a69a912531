# frozen_string_literal: true

# What the examples of the guide to sessions are tried in: a small Rails application with users that are signed in. Each
# example has it in a forked child of its own, see test/house/session_guide_test.rb.

require "rails"
require "active_model/railtie"
require "active_record"
require "action_cable"
require "action_controller/railtie"
require "action_view/railtie"
require "active_support/core_ext/numeric/time"
require "rack/mock"
require "action_dispatch/middleware/session/larder_store" # by its name alone where Rails is loaded before Larder

User = Struct.new(:id) do
  extend ActiveModel::Naming

  # As found by whatever it says.
  def self.find_by_token(_token)
    new(7)
  end
end

# An application of Rails with sessions of Larder's.
class Guide < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = false
  config.secret_key_base = "guide" * 10
  config.hosts.clear
  config.logger = Logger.new(nil)
  config.action_controller.allow_forgery_protection = false
  config.active_support.report_deprecations = false
end

# Of the application, unless an example says otherwise.
class ApplicationController < ActionController::Base
  private

  def current_user
    session[:user_id] && User.new(session[:user_id])
  end
end

# A browser, as far as cookies go.
class Browser
  # @return [Hash{String => String}]
  attr_reader :cookies

  def initialize(app = Rails.application, cookies: {})
    @app = Rack::MockRequest.new(app)
    @cookies = cookies.dup
  end

  # @return [Rack::MockResponse] of a page that was shown or redirects
  def visit(method, path, **params)
    answer = request(method, path, **params)
    raise "#{method} #{path}: #{answer.status} #{answer.body[0, 2000]}" if answer.status >= 400

    answer
  end

  # @return [Rack::MockResponse]
  def request(method, path, **params)
    cookie = @cookies.map { |name, value| "#{name}=#{value}" }.join("; ")
    answer = @app.request(method, "https://www.example.org#{path}", "HTTP_COOKIE" => cookie, params: params)
    Array(answer["set-cookie"]).flat_map { |header| header.split("\n") }.each do |header|
      name, value = header[/\A[^;]+/].split("=", 2)
      @cookies[name] = value
    end
    answer
  end
end

module Examples
  module_function

  # In production, in the current directory.
  #
  # @param lines [String] of config/application.rb
  def boot(lines = "config.session_store :larder_store, ephemeral: true", &routes)
    Rails.env = "production"
    Guide.config.root = Dir.pwd
    Guide.class_eval(lines)
    Guide.initialize!
    Guide.routes.draw(&routes) if routes
  end

  def same(found, wanted)
    found == wanted || raise("#{found.inspect}, not #{wanted.inspect}")
  end

  # A session is counted in, over two requests.
  def configuration(example)
    Object.const_set(:PagesController, Class.new(ApplicationController) do
      def show
        session[:count] = session[:count].to_i + 1
        render plain: session[:count].to_s
      end
    end)
    boot(example) { get "/" => "pages#show" }
    browser = Browser.new
    same(2.times.map { browser.visit("GET", "/").body }, %w[1 2])
  end

  def rack(example)
    app = ->(env) { [200, {}, [(env["rack.session"]["count"] = env["rack.session"]["count"].to_i + 1).to_s]] }
    builder = Rack::Builder.new
    builder.instance_eval(example)
    builder.run(app)
    browser = Browser.new(builder.to_app)
    same(2.times.map { browser.visit("GET", "/").body }, %w[1 2])
  end

  # In an application of Sinatra's.
  def sinatra(example)
    Guide.config.root = Dir.pwd
    app = Class.new(Sinatra::Base) do
      set :environment, :test
      set :session_secret, "s" * 64
      class_eval(example)
      get("/") { (session["count"] = session["count"].to_i + 1).to_s }
    end
    browser = Browser.new(app)
    same(2.times.map { browser.visit("GET", "/").body }, %w[1 2])
    same(File.exist?("storage/sessions.larder"), true)
  end

  # With what Clearance gives to controllers.
  def clearance(example)
    Object.const_set(:Clearance, Module.new)
    Clearance.const_set(:Controller, Module.new { define_method(:current_user) { User.new(7) } })
    Object.send(:remove_const, :ApplicationController)
    boot { get "/" => "pages#show" }
    Object.class_eval(example)
    Object.const_set(:PagesController, Class.new(ApplicationController) { define_method(:show) { head :ok } })
    Browser.new.visit("GET", "/")
    same(Larder::Sessions.logged_in?(User.new(7)), true)
  end

  # Within an action.
  #
  # @return [Browser] that has called it
  def action(example)
    Object.const_set(:PagesController, Class.new(ApplicationController) do
      define_method(:user) { User.new(7) }
      define_method(:show) do
        instance_eval(example)
        head :ok
      end
      define_method(:values) { render json: session.to_hash }
    end)
    boot { get "/:action", controller: "pages" }
    Browser.new.tap { |browser| browser.visit("GET", "/show") }
  end

  def sign_in(example)
    action(example)
    same(Larder::Sessions.logged_in?(7), true)
  end

  # The cookie of a session with a lifetime of its own.
  def remembered(example)
    action("session[:user_id] = 7; @life = (#{example}); response.set_header('x-life', @life.to_i)")
      .visit("GET", "/show").then do |answer|
        life = Time.httpdate(answer["set-cookie"][/expires=([^;]+)/i, 1]) - Time.now
        same((answer["x-life"].to_i - life).abs < 86_400, true)
      end
  end

  # A line `session[:key] = value   # the next request reads other` is to be true.
  def values(example)
    read = JSON.parse(action(example).visit("GET", "/values").body)
    example.scan(/^session\[:(\w+)\].*# the next request reads (.+)$/) do |key, value|
      same(read[key], instance_eval(value))
    end
  end

  # Who is bound.
  def tokens(example)
    boot { post "/tokens" => "tokens#create" }
    Object.class_eval(example)
    Browser.new.visit("POST", "/tokens", token: "x")
    same(Larder::Sessions.logged_in?(User.new(7)), true)
  end

  # Of the shape that Rails 8 generates.
  def authentication(example)
    Object.const_set(:Authentication, Module.new do
      private

      def start_new_session_for(user) = Struct.new(:id, :user).new(1, user)
      def find_session_by_cookie = nil
      def terminate_session = nil
    end)
    Object.send(:remove_const, :ApplicationController)
    Object.const_set(:ApplicationRecord, Class.new(ActiveRecord::Base) { self.abstract_class = true })
    Object.const_set(:ApplicationCable, Module.new)
    boot { get "/sign_in" => "pages#sign_in" }
    Object.class_eval(example)
    Object.const_set(:PagesController, Class.new(ApplicationController) do
      def sign_in = start_new_session_for(User.new(7)) && head(:ok)
    end)
    Browser.new.visit("GET", "/sign_in")
    same(Larder::Sessions.logged_in?(User.new(7)), true)
  end

  # @param example [String] its routes, its controller, and its view in app/views
  def page(example)
    routes, controller = example.split("\n\n\n")
    boot do
      get "/sign_in" => "pages#sign_in"
      instance_eval(routes)
    end
    Object.class_eval(controller)
    Object.const_set(:PagesController, Class.new(ApplicationController) do
      def sign_in
        session[:user_id] = 7
        session[:agent] = params[:agent]
        head :ok
      end
    end)
    browsers = %w[Firefox curl Safari].map do |agent|
      Browser.new.tap { |browser| browser.visit("GET", "/sign_in", agent: agent) }
    end
    text = browsers.first.visit("GET", "/sign_ins").body
    same([text.scan(/Firefox|curl|Safari/).sort, text.scan("(here)").size, text.scan("End<").size],
         [%w[Firefox Safari curl], 1, 2])
    browsers.first.visit("DELETE", "/sign_ins/revoke", handle: text[/name="handle" value="([^"]+)"/, 1])
    same(Larder::Sessions.for(7).size, 2)
    browsers.first.visit("DELETE", "/sign_ins/clear")
    same(Larder::Sessions.for(7).map { |one| one[:agent] }, ["Firefox"])
  end

  # An application with another session store, and its users' browsers.
  PAGES = Module.new do
    def sign_in
      session[:user_id] = 7
      session[:cart] = { "tent" => 1 }
      head :ok
    end

    def show = render(json: session.to_hash.slice("user_id", "cart"))
    def free = head(:ok)

    def change
      session[:count] = 1
      head :ok
    end

    def sign_out
      reset_session
      head :ok
    end
  end

  # @return [Browser] of the application with this configuration
  def shop(lines, cookies: {})
    Object.const_set(:PagesController, Class.new(ApplicationController) { include PAGES })
    boot(lines) { get "/:action", controller: "pages" }
    Browser.new(cookies: cookies)
  end

  SIGNED_IN = { "user_id" => 7, "cart" => { "tent" => 1 } }.freeze

  # Sessions of the store before, as its own middleware makes them.
  #
  # @return [Hash{String => String}] cookies of a user who has signed in
  def former(example)
    return { "_shop_session" => "t7" } if example.include?("FormerSession")

    given = example.sub(/ ephemeral: true, migrate_from: (?::(\w+)|\[:(\w+), \{ (.*) \}\])$/, " \\3")
                   .sub(":larder_store", ":#{$1 || $2}").sub(/, *$/, "")
    table
    shop(given).tap { |browser| browser.visit("GET", "/sign_in") }.cookies
  end

  # The next deploy has the example's configuration.
  #
  # @return [Array] what a page finds, whether the cookie is another one, how many sessions a logout ends, and what a
  #   page finds then by the new cookie and by the old one
  def changed(example, cookies)
    table
    Object.const_set(:FormerSession, Struct.new(:values_hash) do
      def self.find_by(token:) = (new(SIGNED_IN) if token == "t7")
    end)
    browser = shop(example, cookies: cookies)
    found = browser.visit("GET", "/show").body
    other = browser.cookies["_shop_session"] != cookies["_shop_session"]
    [found, other, Larder::Sessions.logout(7),
     *[browser, Browser.new(cookies: cookies)].map { |one| one.visit("GET", "/show").body }]
  end

  def table
    require "activerecord/session_store"
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: File.join(Dir.pwd, "former.sqlite3"))
    ActiveRecord::Schema.verbose = false
    model = ActionDispatch::Session::ActiveRecordStore.session_class = ActiveRecord::SessionStore::Session
    model.create_table! unless model.table_exists?
  end

  # A process of one machine, and a browser.
  #
  # @return [Array(Hash, Object)] the cookies afterwards, what the block answers
  def machine(example, cookies)
    browser = shop(example, cookies: cookies)
    found = yield browser
    [browser.cookies, found]
  end

  # The server is killed while users are signed in. Answers by what they do, as the guide's table has it.
  #
  # @yield kills it
  # @return [Hash{Symbol => Object}]
  def outage(example, configuration)
    first = shop(configuration)
    Object.class_eval(example) if example
    second = Browser.new
    [first, second].each { |browser| browser.visit("GET", "/sign_in") }
    listen if configuration.include?("backplane:")
    [first, second].each { |browser| 2.times { browser.visit("GET", "/show") } } # the machine has copies
    yield
    name = first.cookies.keys.first
    lost = Browser.new(cookies: { name => "0" * 32 })
    visits = { free: [first, "free"], read: [first, "show"], change: [first, "change"],
               sign_in: [Browser.new, "sign_in"], lost: [lost, "show"], sign_out: [first, "sign_out"],
               signed_out: [first, "show"] }
    answers = visits.transform_values { |browser, page| told(browser.request("GET", "/#{page}")) }
    { **answers, logged_in: asked { Larder::Sessions.logged_in?(7) }, logout: asked { Larder::Sessions.logout(7) } }
  end

  # A process uses copies when it has received an answer of the backplane.
  def listen
    store = ObjectSpace.each_object(ActiveSupport::Cache::LarderStore).find(&:remote)
    1000.times { store.cache.trusted? ? return : sleep(0.01) }
    raise "the machine does not listen to the backplane"
  end

  def told(answer)
    [answer.status, answer["retry-after"], *(answer.body unless answer.status == 503)].compact
  end

  def asked
    yield
  rescue Larder::Sessions::UnavailableError => error
    error.class.name
  end

  # Three sessions of a user, one of nobody's; a line `expression   # => value` is to be true.
  def questions(example, lines = "config.session_store :larder_store, ephemeral: true")
    boot(lines)
    options = Rails.application.config.session_options
    repository = Larder::Sessions.repository(**Larder::Sessions::Configuration.split(options).first)
    now = Time.now.to_i - 180
    repository.define_singleton_method(:now) { now }
    %w[Safari curl Firefox].each do |agent|
      now += 60
      repository.begin(Digest::SHA256.digest(agent), { "user_id" => 7, "agent" => agent })
    end
    repository.begin(Digest::SHA256.digest("nobody"), { "cart" => {} })
    code = example.gsub(/^(.+?)\s+# => (.+)$/) { "Examples.same((#{$1}), (#{$2}))" }
    Struct.new(:user).new(User.new(7)).instance_eval(code, __FILE__, __LINE__)
  end
end
