# frozen_string_literal: true

require "test_helper"
require "action_controller"
require "action_dispatch/middleware/flash"
require "action_dispatch/middleware/session/larder_store"
require "rack/mock"
require "support/reported_errors"

module ActionDispatch
  module Session
    # A Rails controller behind the middleware. What it does with a request is a test's.
    class LarderStoreTest < ActiveSupport::TestCase
      include ReportedErrors
      include TemporaryCaches

      # Does what the test says.
      class Controller < ActionController::Base
        protect_from_forgery with: :null_session

        cattr_accessor :does

        def act
          render plain: instance_exec(&does).to_s
        end
      end

      KEY = "_app_session"
      # Rails gives a request that it does not trust a session that is none.
      ACCEPTED = -> { session.enabled? }

      setup { Controller.does = -> { session[:count] = session[:count].to_i + 1 } }

      test "Rails finds it by its name" do
        assert_equal LarderStore, ActionDispatch::Session.resolve_store(:larder_store)
      end

      test "an application that has the gem configures it by its name alone" do
        script = <<~RUBY
          require "rails"
          require "action_controller/railtie"
          require "larder"
          class Application < Rails::Application
            config.session_store :larder_store, key: "_app", per_user: 3
          end
          print Rails.application.config.session_store, " ", Larder::Sessions.stats[:sessions], " ", Larder::Sessions.logged_in?(1)
        RUBY
        lib = ::File.expand_path("../../../lib", __dir__)
        out, err, status = Open3.capture3(RbConfig.ruby, "-I#{lib}", "-e", script, chdir: directory)
        assert status.success?, err
        assert_equal "ActionDispatch::Session::LarderStore 0 false", out
      end

      # A Rails application that stores a Symbol and a Hash with Symbols in its session, and prints what is reported.
      CONVERTING = <<~RUBY
        require "rails"
        require "action_controller/railtie"
        require "larder"
        class KeeperController < ActionController::Base
          def keep
            session[:step] = :paid
            session[:query] = { id: 7, "filters" => { "status" => { operator: "=" } } }
            head :ok
          end
        end
        class Application < Rails::Application
          config.eager_load = false
          config.logger = Logger.new(nil)
          config.secret_key_base = "0" * 64
          config.hosts.clear
          config.action_dispatch.cookies_serializer = COOKIES
          config.session_store :larder_store, key: "_app", file: "sessions.larder", **OPTIONS
        end
        Application.initialize!
        Application.routes.draw { get "/keep" => "keeper#keep" }
        reports = Class.new do
          def report(error, **)
            puts error.message
          end
        end
        ActiveSupport.error_reporter.subscribe(reports.new)
        2.times do
          response = Rack::MockRequest.new(Application).get("/keep")
          abort response.body unless response.status == 200
        end
      RUBY

      test "an application whose cookies keep Ruby objects learns once of values that the next request reads as JSON" do
        reports = converted("nil", "{}").lines(chomp: true)
        assert_equal 2, reports.size, reports.join("\n")
        assert_match(/\Asession\["step"\] is a Symbol, .* String for a Symbol\. .* serializer: :marshal /,
reports.first)
        assert_match(/\Asession\["query"\] has keys of the class Symbol, .* serializer: :json if not/, reports.last)
      end

      test "an application whose cookies are JSON, or that has chosen a serializer, is not told" do
        [[":json", "{}"], ["nil", "{ serializer: :json }"]].each do |cookies, options|
          assert_equal "", converted(cookies, options), "#{cookies} #{options}"
        end
      end

      test "the first form of a visitor is accepted, also where expire_after: sends the cookie with each response" do
        [{}, { expire_after: 3600 }].each do |options|
          @options = options
          @app = nil
          Controller.does = -> { form_authenticity_token }
          form = get
          assert_match(/\A#{KEY}=\h{32};/o, form["set-cookie"].to_s, options.inspect)
          Controller.does = ACCEPTED
          assert_equal "true", post(form, form.body).body, options.inspect
        end
      end

      test "a session lasts over requests, its cookie is for HTTP alone" do
        first = get
        assert_match(/\A_app_session=\h{32}; path=\/; httponly; samesite=lax\z/i, first["set-cookie"].to_s)
        assert_equal %w[1 2 3], [first.body, get(first).body, get(first).body]
      end

      test "the cookie goes to other sites as the application says" do
        application = { "action_dispatch.cookies_same_site_protection" => ->(_) { :strict } }
        assert_match(/samesite=strict/i, get(env: application)["set-cookie"].to_s)
      end

      test "a session has the lifetime that its request says, until the session ends" do
        Controller.does = lambda do
          request.session_options[:expire_after] = 365 * 86_400
          session[:user_id] = 7
        end
        first = get
        assert_operator cache.ttl(cache.each_key(prefix: "s/").first), :>, 365 * 86_400
        Controller.does = -> { session[:user_id] }
        assert_equal %w[7 true], [get(first).body, get(first)["set-cookie"].to_s.include?("expires=").to_s]
        Controller.does = lambda do
          session[:user_id]
          reset_session
          session[:notice] = "bye"
        end
        refute_match(/expires=/, get(first)["set-cookie"].to_s)
      end

      test "a session that is not loaded is neither kept nor given a cookie" do
        Controller.does = -> { "nothing" }
        assert_nil get["set-cookie"]
        Controller.does = -> { session[:nobody].inspect }
        assert_nil get["set-cookie"]
        Controller.does = -> { session[:nobody] = nil }
        assert_nil get["set-cookie"]
        assert_empty cache.each_key(prefix: "s/").to_a
      end

      test "a session that is only read is given no cookie again, and what is changed in place is kept" do
        Controller.does = -> { session[:list] = [1, [2]] }
        first = get
        Controller.does = -> { session[:list].inspect }
        assert_nil get(first)["set-cookie"]
        Controller.does = -> { session[:list].last << 3 }
        assert_nil get(first)["set-cookie"]
        Controller.does = -> { session[:list].inspect }
        assert_equal "[1, [2, 3]]", get(first).body
      end

      test "a session that is read keeps its cookie where the application drops it, as with other stores of Rails" do
        first = get
        Controller.does = -> { [session[:count], cookies.delete(KEY)].first }
        answer = get(first)
        assert_equal ["1", id(first)], [answer.body, id(answer)]
      end

      test "a cookie that expires is given anew with each request that reads" do
        @options = { expire_after: 3600 }
        first = get
        Controller.does = -> { session[:count] }
        assert_match(/#{KEY}=#{id(first)};.*expires=/i, get(first)["set-cookie"].to_s)
      end

      test "so is one whose end is a time, of the store or of the request" do
        @options = { expires: 1.hour }
        first = get
        assert_match(/#{KEY}=#{id(first)};.*expires=/i, get(first)["set-cookie"].to_s)
        @options = @app = nil
        Controller.does = -> { [session[:count], request.session_options[:expires] = 1.day.from_now].first }
        assert_match(/#{KEY}=#{id(first)};.*expires=/i, get(first)["set-cookie"].to_s)
      end

      test "the token against forged requests is stored once for each request" do
        stored = 0
        Controller.define_method(:commit_csrf_token) { |request| (stored += 1) && super(request) }
        first = get
        get(first)
        assert_equal 2, stored
      ensure
        Controller.remove_method(:commit_csrf_token)
      end

      test "an id that is not known is not taken over" do
        answer = get(cookie: "#{KEY}=#{"ab" * 16}")
        assert_equal "1", answer.body
        assert_not_equal "ab" * 16, id(answer)
      end

      test "the name of its cookie may be a Symbol" do
        @options = { key: KEY.to_sym }
        first = get
        Controller.does = -> { [cookies[:other], session[:count]].inspect }
        assert_equal "[nil, 1]", get(first).body
      end

      test "reset_session gives another id, and the old one opens nothing" do
        first = get
        Controller.does = -> { [reset_session, session[:after] = 1] }
        second = get(first)
        assert_not_equal id(first), id(second)
        Controller.does = -> { session.to_hash.inspect }
        assert_equal [{ "after" => 1 }.inspect, "{}"], [get(second).body, get(first).body]
      end

      test "a session that another request has reset is not brought back by a slower one" do
        first = get
        test = self
        Controller.does = lambda do
          session[:count] = 9
          test.during(first) { reset_session }
        end
        get(first)
        Controller.does = -> { session[:count].inspect }
        assert_equal "nil", get(first).body
      end

      test "requests that overlap keep what each has changed, and a reader brings nothing back" do
        first = get
        test = self
        Controller.does = lambda do
          session[:count]
          test.during(first) { [session[:count] = 5, session[:inner] = 1] }
        end
        get(first)
        Controller.does = lambda do
          session[:outer] = 2
          test.during(first) { session[:inner] = 3 }
        end
        get(first)
        Controller.does = -> { session.to_hash.sort.inspect }
        assert_equal [["count", 5], ["inner", 3], ["outer", 2]].inspect, get(first).body
      end

      test "the CSRF token of the first of two requests stays" do
        first = get
        test = self
        tokens = []
        Controller.does = lambda do
          form_authenticity_token
          test.during(first) { form_authenticity_token }
          test.during(first) { tokens << session[:_csrf_token] }
        end
        get(first)
        Controller.does = -> { tokens << session[:_csrf_token] }
        get(first)
        assert_equal 1, tokens.uniq.size
        assert_kind_of String, tokens.first
      end

      test "a value without a form in JSON is left out, however it is assigned, and reported once" do
        first = get
        errors = reported do
          [-> { session[:it] = $stdout }, -> { session.update(it: $stdout) }, -> { session.merge!(it: $stdout) },
           -> { session.store(:it, $stdout) }].each do |assignment|
            Controller.does = assignment
            assert_equal 200, get(first).status
          end
        end
        assert_equal [["it", "IO"]], errors.map(&:about)
        Controller.does = -> { session.to_hash.inspect }
        assert_equal({ "count" => 1 }.inspect, get(first).body)
      end

      test "a value is what was assigned in this request, and what JSON makes of it in the next" do
        Controller.does = lambda do
          cart = (session[:cart] ||= { items: [] })
          cart[:items] << :pear
          [session[:step] = :paid, session[:step], session[:cart]].inspect
        end
        first = get
        assert_equal [:paid, :paid, { items: [:pear] }].inspect, first.body
        Controller.does = -> { [session[:step], session[:cart]].inspect }
        assert_equal ["paid", { "items" => ["pear"] }].inspect, get(first).body
      end

      test "the browser's name is kept where it is no ASCII" do
        Controller.does = -> { session[:agent] = request.user_agent }
        first = get(env: { "HTTP_USER_AGENT" => "Müller".b })
        Controller.does = -> { session[:agent] }
        assert_equal "Müller", get(first).body.force_encoding("UTF-8")
      end

      test "forms that were opened at once, where the browser has the cookie of the session, are all accepted" do
        5.times do
          Controller.does = -> { session[:count] = 1 }
          forms = at_once(first = get, 2) { form_authenticity_token }
          Controller.does = ACCEPTED
          assert_equal %w[true true], (forms.map { |token| post(first, token).body })
        end
      end

      test "so are the forms of pages of which only one is kept, and of one that is opened later" do
        first = get
        Controller.does = -> { [form_authenticity_token, session[:_csrf_token]].join(" ") }
        one, kept = get(first).body.split
        two, same = get(first).body.split
        assert_equal kept, same
        Controller.does = ACCEPTED
        assert_equal %w[true true false], ([one, two, "x" * 86].map { |token| post(first, token).body })
      end

      test "a token that was taken out, or whose session was reset or renewed, does not come back" do
        tokens = [-> { session.delete(:_csrf_token) }, -> { request.reset_session },
                  -> { [session.delete(:_csrf_token), request.session_options[:renew] = true] }].map do |change|
          Controller.does = -> { form_authenticity_token }
          token = get(first = get).body
          Controller.does = -> { [instance_exec(&change), request.reset_csrf_token, form_authenticity_token].last }
          other = (second = get(first)).body
          Controller.does = ACCEPTED
          after = second["set-cookie"] ? second : first
          [post(after, token).body, post(after, other).body]
        end
        assert_equal [%w[false true]] * 3, tokens
      end

      test "a session that has no form is given no token" do
        first = get
        Controller.does = -> { session.to_hash.keys.inspect }
        assert_equal '["count"]', get(first).body
      end

      test "messages of overlapping requests are all kept, and one that was shown is removed alone" do
        Controller.does = -> { session[:cart] = 1 }
        first = get
        test = self
        Controller.does = lambda do
          flash[:notice] = "saved"
          test.during(first) { flash[:alert] = "refused" }
        end
        get(first)
        Controller.does = lambda do
          flash.to_h.sort.inspect.tap { test.during(first) { flash[:info] = "new" } }
        end
        assert_equal [%w[alert refused], %w[notice saved]].inspect, get(first).body
        Controller.does = -> { flash.to_h.sort.inspect }
        assert_equal '[["info", "new"]]', get(first).body
        assert_equal "[]", get(first).body
      end

      { "clear"         => -> { session.clear },
        "delete"        => -> { session.delete(:user_id) },
        "an assignment" => -> { session[:user_id] = nil },
        "merge!"        => -> { session.merge!(user_id: nil) },
        "reset_session" => -> { reset_session },
        "bind(nil)"     => -> { ::Larder::Sessions.bind(nil) } }.each do |name, sign_out|
        test "a sign-out by #{name} with the former id ends the session" do
          Controller.does = -> { session[:user_id] = 7 }
          first = get
          Controller.does = -> { session[:user_id] && request.session_options[:renew] = true }
          renewed = get(first)
          Controller.does = sign_out
          get(first)
          Controller.does = -> { session[:user_id].inspect }
          assert_equal "nil", get(renewed).body
        end
      end

      test "a late request with the id from before a sign-in, which shows a form, sets no cookie" do
        Controller.does = -> { session[:cart] = 1 }
        first = get
        Controller.does = lambda do
          reset_session
          session[:user_id] = 7
        end
        refute_nil get(first)["set-cookie"]
        Controller.does = -> { form_authenticity_token && flash[:notice] = "late" }
        assert_equal [200, nil], [get(first).status, get(first)["set-cookie"]]
      end

      test "a flash is there for one request more" do
        Controller.does = -> { flash[:notice] = "saved" }
        first = get
        Controller.does = -> { flash[:notice].inspect }
        assert_equal ['"saved"', "nil"], [get(first).body, get(first).body]
      end

      test "the id that an application sees is not the one that is kept" do
        Controller.does = -> { [session[:a] = 1, session.id.public_id].last }
        answer = get
        assert_equal id(answer), answer.body
        assert_empty(cache.each_key.select { |key| key.include?(answer.body) })
      end

      # Runs a whole request of the same session while another is at work.
      def during(first, &inner)
        outer = Controller.does
        Controller.does = inner
        get(first)
      ensure
        Controller.does = outer
      end

      private

      # @return [String] what the application prints
      def converted(cookies, options)
        script = CONVERTING.sub("COOKIES", cookies).sub("OPTIONS", options)
        lib = ::File.expand_path("../../../lib", __dir__)
        out, err, status = Open3.capture3(RbConfig.ruby, "-I#{lib}", "-e", script, chdir: Dir.mktmpdir(nil, directory))
        assert status.success?, err
        out
      end

      def get(after = nil, cookie: after && after["set-cookie"].to_s[/[^;]+/], env: {})
        Rack::MockRequest.new(app).get("/", { "HTTP_COOKIE" => cookie, **env }.compact)
      end

      def post(after, token)
        cookie = after["set-cookie"].to_s[/[^;]+/]
        Rack::MockRequest.new(app).post("/", "HTTP_COOKIE" => cookie, params: { authenticity_token: token })
      end

      # @return [Array<String>] what requests answer that are all at work on the session when they do it
      def at_once(first, count, &does)
        arrived = Queue.new
        deadline = 30.seconds.from_now
        Controller.does = lambda do
          instance_exec(&does).tap do
            arrived << 1
            sleep(0.001) until arrived.size == count || deadline.past?
          end
        end
        Array.new(count) { Thread.new { get(first).body } }.map(&:value)
      end

      def app
        @app ||= begin
          store = { key: KEY, file: path_of, size: SIZE, **@options.to_h }
          Rack::Builder.app do
            use ActionDispatch::Cookies
            use LarderStore, store
            run Controller.action(:act)
          end
        end
      end

      def id(answer)
        answer["set-cookie"].to_s[/#{KEY}=(\h+)/, 1]
      end
    end
  end
end
