# frozen_string_literal: true

require "support/dashboard_case"

module Larder
  class Dashboard
    # Rules say who may see a dashboard.
    class AccessTest < DashboardCase
      teardown { Dashboard.instance_variable_set(:@rule, nil) }

      PATHS = ["", "keys", "entry?key=a", "clear", "absent", Assets.path("dashboard.css")].freeze

      def status(path = "", env = {})
        get("/larder/#{path}", {}, env)
        last_response.status
      end

      def basic(user, password)
        { "HTTP_AUTHORIZATION" => "Basic #{["#{user}:#{password}"].pack("m0")}" }
      end

      def assert_hidden
        PATHS.each do |path|
          assert_equal 404, status(path), path
          assert_equal "Not Found\n", last_response.body
          assert_equal "pass", last_response.headers["x-cascade"]
          refute_match(/larder/i, last_response.headers.to_h.to_s)
        end
        post("/larder/clear", by: "all")
        assert_equal 404, last_response.status
      end

      test "in development everything is seen without a rule" do
        assert_equal 200, status
      end

      test "outside of development all is hidden until access is given, and the log says once how" do
        [{ "RACK_ENV" => "production" }, { "RACK_ENV" => nil }, { "RAILS_ENV" => "staging" },
         { "RAILS_ENV" => "test", "RACK_ENV" => "development" }].each do |variables|
          with_environment(variables) do
            use
            log = logged { assert_hidden }
            assert_equal 1, log.scan("see docs/guides/dashboard.md").size, log
          end
        end
      end

      test "a block of the class gives access to each dashboard, by what it answers" do
        ENV["RACK_ENV"] = "production"
        seen = []
        Dashboard.allow do |request|
          seen << request
          request.get_header("HTTP_X_ADMIN") == "yes"
        end
        assert_equal [404, 200], [status, status("", "HTTP_X_ADMIN" => "yes")]
        assert_kind_of Rack::Request, seen.first
      end

      test "a block that raises means no, and is reported" do
        ENV["RACK_ENV"] = "production"
        use(allow: ->(_request) { raise "no user" })
        log = logged { assert_hidden }
        assert_match(/the block that says who may see it raised RuntimeError: no user/, log)
      end

      test "nil and false mean no" do
        [nil, false].each do |answer|
          use(allow: ->(_request) { answer })
          assert_hidden
        end
      end

      test "a constraint of the route is believed where that is said" do
        ENV["RACK_ENV"] = "production"
        use(allow: :route)
        assert_equal 200, status
      end

      test "all rules that are given must hold" do
        use(allow: :route, password: "secret")
        assert_equal 401, status
        Dashboard.allow { |request| request.get_header("HTTP_X_ADMIN") }
        assert_equal 404, status("", basic("larder", "secret"))
        assert_equal 200, status("", basic("larder", "secret").merge("HTTP_X_ADMIN" => "1"))
      end

      test "a password is asked for, with any user" do
        ENV["RACK_ENV"] = "production"
        use(password: "geheim: ß")
        PATHS.each { |path| assert_equal 401, status(path) }
        assert_match(/\ABasic realm="Larder"/, last_response.headers["www-authenticate"])
        assert_equal([200, 200], %w[larder admin].map { |user| status("", basic(user, "geheim: ß")) })
        [["larder", ""], ["larder", "geheim"]].each do |user, password|
          assert_equal 401, status("", basic(user, password)), user
        end
        ["", "Basic", "Basic !", "Bearer geheim", "Basic #{["larder"].pack("m0")}"].each do |header|
          assert_equal 401, status("", "HTTP_AUTHORIZATION" => header), header
        end
      end

      test "a password that is nil or empty hides all, also in development" do
        [nil, "", " \n"].each do |password|
          use(password: password)
          log = logged { assert_hidden }
          assert_equal 1, log.scan("its password: is nil or empty").size, log
        end
      end

      test "a controller or read_only: that is nil by mistake is an error, and a rule that is nil hides all" do
        %i[base_controller read_only].each do |name|
          error = assert_raises(::ArgumentError) { Dashboard.new(name => nil) }
          assert_match(/:#{name} of Larder::Dashboard is nil; it takes/, error.message)
        end
        assert_match(/allow needs a block/, assert_raises(::ArgumentError) { Dashboard.allow }.message)
        use(allow: nil)
        logged { assert_hidden }
      end

      test "wrong options are named, and passwords are not shown" do
        { { pasword: "x" } => /unknown option :pasword.*known: :allow, :password, :token, :cache/,
          { allow: :routes } => /allow: :routes is neither :route nor a Proc/,
          { password: 12_345 } => /password: is of Integer; it takes a String/,
          { base_controller: "admin" } => /:base_controller .* takes the name of a controller/,
          { values: "yes" } => /:values .* takes true or false/, { actor: "me" } => /:actor .* takes a block/,
          { cache: 1 } => /:cache .* takes a LarderStore, a Larder::Cache or the path of a file/,
          { cache: "" } => /:cache .* is ""; it takes/, { cache: "  " } => /:cache .* is "  "; it takes/,
          { cache: Pathname.new("") } => /:cache .*; it takes/ }.each do |options, message|
          assert_match message, assert_raises(::ArgumentError) { Dashboard.new(**options) }.message
        end
      end
    end
  end
end
