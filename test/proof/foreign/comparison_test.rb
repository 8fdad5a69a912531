# frozen_string_literal: true

require "test_helper"
require "json"
require "tempfile"
require_relative "../../../proof/foreign/comparison"
require_relative "../../../proof/foreign/rspec_suite"

module Foreign
  class ComparisonTest < ActiveSupport::TestCase
    DEFAULT = { "a" => "passed", "b" => "failed", "c" => "passed", "d" => "skipped" }.freeze
    LARDER = { "a" => "passed", "b" => "failed", "c" => "error", "e" => "passed" }.freeze

    test "tests whose results differ, or that ran on one side alone, are differences" do
      found = compared.differences
      assert_equal [["c", "passed", "error"], ["d", "skipped", nil], ["e", nil, "passed"]],
                   found.map { |one| [one.test, one.default, one.larder] }
      assert_equal "c is an error", found.first.message
    end

    test "it counts the tests of both sides, failures and skipped ones" do
      assert_equal 3, compared.tests
      assert_equal [1, 2], [compared.failures(:default), compared.failures(:larder)]
      assert_equal [1, 0], [compared.skipped(:default), compared.skipped(:larder)]
      assert_equal "unit              3 tests, failures 1 on its own store, 2 on Larder, 3 differ", compared.line
    end

    test "a difference is confirmed by a second run" do
      second = Comparison.new("unit", results("c" => "passed", "d" => "passed"),
results("c" => "failed", "d" => "passed"))
      assert_equal ["c"], compared.confirmed(second).map(&:test)
    end

    test "results of Minitest are lines of JSON" do
      lines = [{ test: "ATest#test_b", result: "failed", message: "no" }, { test: "ATest#test_c", result: "passed" }]
      read(lines.map { |line| JSON.generate(line) }.join("\n"), Suite) do |found|
        assert_equal({ "ATest#test_b" => "failed", "ATest#test_c" => "passed" }, found.transform_values do |one|
          one["result"]
        end)
      end
    end

    test "results of RSpec have a file, and a number in it" do
      examples = [{ id: "./spec/a_spec.rb[1:1]", status: "passed" }, { id: "./spec/a_spec.rb[1:2]", status: "pending" },
                  { id: "./spec/a_spec.rb[1:3]", status: "failed", exception: { message: "no" } }]
      read(JSON.generate(examples: examples), RspecSuite) do |found|
        assert_equal ["passed", "skipped", "failed"], found.values.map { |one| one["result"] }
        assert_equal "no", found.values.last["message"]
      end
    end

    private

    def compared
      Comparison.new("unit", results(DEFAULT), results(LARDER))
    end

    def results(all)
      all.to_h do |test, result|
        [test, { "result" => result, "message" => result == "error" ? "#{test} is an error" : "" }]
      end
    end

    def read(text, suite)
      Tempfile.create("results") do |file|
        file.write(text)
        file.flush
        yield suite.read(file.path)
      end
    end
  end
end
