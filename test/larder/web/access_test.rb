# frozen_string_literal: true

require "test_helper"
require "active_support/error_reporter"
require "larder/web/access"
require "rack"
require "stringio"

module Larder
  module Web
    class AccessTest < ActiveSupport::TestCase
      NAMES = %w[RAILS_ENV RACK_ENV].freeze

      setup do
        @environment = ENV.to_h.slice(*NAMES)
        NAMES.each { |name| ENV.delete(name) }
      end

      teardown { NAMES.each { |name| ENV[name] = @environment[name] } }

      test "without an option a page is open in development alone" do
        answers = nil
        log = capture do
          answers = ["development", "production", "test", "staging", "", nil].map do |environment|
            ENV["RACK_ENV"] = environment
            page.refusal({})
          end
        end
        assert_equal [nil, :hidden, :hidden, :hidden, :hidden, :hidden], answers
        assert_equal "larder: the page answers 404, outside of development until allow:, password: or token: opens " \
                     "it, see page.md\n", log.lines.first
      end

      test "an option that is nil or empty opens a page nowhere, which is logged once" do
        ENV["RACK_ENV"] = "development"
        [{ allow: nil }, { password: nil }, { password: " \n" }, { token: nil }, { token: "" },
         { allow: :route, password: "" }].each do |given|
          one = page(given)
          log = capture do
            [nil, "Bearer ", "Bearer", "Basic", "Basic #{["user:"].pack("m0")}", "Basic Og=="].each do |header|
              assert_equal :hidden, refusal(one, header), "#{given} #{header}"
            end
          end
          assert_equal "larder: the page answers 404, as its #{given.keys.last}: is nil or empty\n", log
        end
      end

      test "a Proc gets the request and decides" do
        one = page(allow: ->(request) { request.params["key"] == "1" })
        requests = %w[key=1 key=2].map { |query| { "QUERY_STRING" => query, "rack.input" => StringIO.new } }
        assert_equal([nil, :hidden], requests.map { |request| one.refusal(request) })
        assert_nil page(allow: ->(_) { "yes" }).refusal({})
      end

      test "a Proc that raises means no, is logged and is reported" do
        reports = []
        reporter = ActiveSupport::ErrorReporter.new
        reporter.subscribe(Class.new { define_method(:report) { |error, **| reports << error.message } }.new)
        former, ActiveSupport.error_reporter = ActiveSupport.error_reporter, reporter
        log = capture { assert_equal :hidden, page(allow: ->(_) { raise "no user" }).refusal({}) }
        assert_equal ["no user"], reports
        assert_equal "larder: the page answers 404, as the block that says who may see it raised RuntimeError: " \
                     "no user\n", log
      ensure
        ActiveSupport.error_reporter = former
      end

      test "routes decide where the option says so" do
        assert_nil page(allow: :route).refusal({})
      end

      test "one more rule holds in addition, and opens a page by itself" do
        rule = nil
        one = Access.new("the page", guide: "page.md", rule: -> { rule })
        capture { assert_equal :hidden, one.refusal({}) }
        rule = ->(request) { request.get_header("admin") }
        assert_equal([:hidden, nil], [one.refusal({}), one.refusal("admin" => 1)])
        secret = Access.new("the page", { password: "a" }, guide: "page.md", rule: -> { rule })
        basic = "Basic #{["x:a"].pack("m0")}"
        assert_equal [:hidden, :unauthorized, nil],
                     [secret.refusal("HTTP_AUTHORIZATION" => basic), secret.refusal("admin" => 1),
                      secret.refusal("admin" => 1, "HTTP_AUTHORIZATION" => basic)]
      end

      test "a password opens a page for any user name, and is asked for" do
        one = page(password: "se:crét")
        given = ["ann:se:crét", ":se:crét", "ann:secrét", "se:crét", "ann:se:crét "].map { |text| [text].pack("m0") }
        assert_equal([nil, nil, *Array.new(3, :unauthorized)], given.map { |text| refusal(one, "Basic #{text}") })
        assert_nil refusal(one, "bASIC #{given.first}")
        ["Bearer se:crét", "Basic \xFF\xFF", "Basic", "", nil].each do |header|
          assert_equal :unauthorized, refusal(one, header)
        end
        assert_equal 'Basic realm="Larder", charset="UTF-8"', one.challenge
      end

      test "a token opens a page, and is not asked for" do
        one = page(token: "abc")
        headers = ["Bearer abc", "bearer abc", "Bearer abcd", "Bearer ab", "abc", nil]
        assert_equal([nil, nil, *Array.new(4, :hidden)], headers.map { |header| refusal(one, header) })
      end

      test "a wrong option is an error that names it and the remedy, and shows no secret" do
        { { alow: 1 } => "unknown option :alow; known: allow:, password:, token:",
          { password: "a", token: "b" } => "give one of password:, token:, not both",
          { password: 12_345 } => "password: is of Integer; it takes a String",
          { allow: true } => "allow: true is neither :route nor a Proc that gets the request, as " \
                             "->(request) { request.session[:admin] }" }.each do |given, message|
          assert_equal message, assert_raises(ArgumentError) { page(given) }.message
        end
      end

      private

      def page(given = {})
        Access.new("the page", given, guide: "page.md")
      end

      # @return [String] the log of a program without a logger
      def capture(&block)
        capture_io(&block).last
      end

      def refusal(page, header)
        page.refusal({ "HTTP_AUTHORIZATION" => header })
      end
    end
  end
end
