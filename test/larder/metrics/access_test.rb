# frozen_string_literal: true

require "test_helper"
require "active_support/core_ext/object/with"
require "larder/metrics"
require "stringio"

module Larder
  class Metrics
    class AccessTest < ActiveSupport::TestCase
      NAMES = %w[RAILS_ENV RACK_ENV].freeze

      setup do
        @environment = ENV.to_h.slice(*NAMES)
        NAMES.each { |name| ENV.delete(name) }
      end

      teardown { NAMES.each { |name| ENV[name] = @environment[name] } }

      test "without an option a page is open in development alone" do
        opened = nil
        log = capture do
          opened = ["development", "production", "test", "staging", "", nil].map do |environment|
            ENV["RACK_ENV"] = environment
            Access.new.allowed?({})
          end
        end
        assert_equal [true, false, false, false, false, false], opened
        assert_equal "larder: a page of metrics or health answers 404 outside of development until one of allow:, " \
                     "password: and token: opens it, see docs/guides/metrics.md\n", log.lines.first
      end

      test "an option that is nil or empty opens a page nowhere" do
        ENV["RACK_ENV"] = "development"
        [{ allow: nil }, { password: nil }, { password: "" }, { token: nil }, { token: "" }].each do |given|
          access = Access.new(given)
          log = capture do
            [nil, "Bearer ", "Bearer", "Basic", "Basic #{["user:"].pack("m0")}", "Basic Og=="].each do |header|
              assert_not authorized?(access, header), "#{given} #{header}"
            end
          end
          assert_nil access.challenge
          assert_equal "larder: a page of metrics or health answers 404, as its #{given.keys.first}: is empty\n", log
        end
      end

      test "a Proc gets the request and decides" do
        access = Access.new(allow: ->(request) { request.params["key"] == "1" })
        requests = %w[key=1 key=2].map { |query| { "QUERY_STRING" => query, "rack.input" => StringIO.new } }
        opened = requests.map { |request| access.allowed?(request) }
        assert_equal [true, false], opened
        assert_same true, Access.new(allow: ->(_) { "yes" }).allowed?({})
      end

      test "routes decide where the option says so" do
        assert Access.new(allow: :route).allowed?({})
      end

      test "a password opens a page for any user name, and is asked for" do
        access = Access.new(password: "se:cret")
        given = ["ann:se:cret", ":se:cret", "ann:secret", "se:cret", "ann:se:cret "].map { |text| [text].pack("m0") }
        assert_equal([true, true, false, false, false], given.map { |text| authorized?(access, "Basic #{text}") })
        assert authorized?(access, "bASIC #{given.first}")
        assert_not authorized?(access, "Bearer se:cret")
        assert_not authorized?(access, "Basic \xFF\xFF")
        assert_equal 'Basic realm="Larder", charset="UTF-8"', access.challenge
      end

      test "a token opens a page, and is not asked for" do
        access = Access.new(token: "abc")
        headers = ["Bearer abc", "bearer abc", "Bearer abcd", "Bearer ab", "abc", nil]
        assert_equal([true, true, false, false, false, false], headers.map { |header| authorized?(access, header) })
        assert_nil access.challenge
      end

      test "a wrong option is an error that names it and the remedy" do
        { { alow: 1 } => "unknown option :alow; known: allow:, password:, token:",
          { password: "a", token: "b" } => "give one of password:, token:, not 2",
          { allow: true } => "allow: true is neither :route nor a Proc that gets the request, as " \
                             "->(request) { request.session[:admin] }" }.each do |given, message|
          assert_equal message, assert_raises(ArgumentError) { Access.new(given) }.message
        end
      end

      private

      # @return [String] the log of a program without a logger
      def capture(&block)
        capture_io(&block).last
      end

      def authorized?(access, header)
        access.allowed?({ "HTTP_AUTHORIZATION" => header })
      end
    end
  end
end
