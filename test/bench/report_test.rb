# frozen_string_literal: true

require "test_helper"
require "json"
require_relative "../../bench/support/report"

module Bench
  # The report of bench/run: what it calls met, and how it writes a figure.
  class ReportTest < ActiveSupport::TestCase
    test "a figure is never written better than it is" do
      assert_equal "19.9", Rounding.text(19.9999, :down)
      assert_equal "2.01", Rounding.text(2.0001, :up)
      assert_equal "0.300", Rounding.text(0.3, :down)
      assert_equal "0.300", Rounding.text(0.3, :up)
      assert_equal "12,346", Rounding.text(12_345.6)
      assert_equal "0", Rounding.text(0)
    end

    test "the median of rounds has its range, a single count has none" do
      assert_equal [2, 1, 9], Figure.of_rounds("f", "x", [9, 1, 2]).to_a.drop(2)
      assert_equal [1.5, 1, 2], Figure.of_rounds("f", "x", [1, 2]).to_a.drop(2)
      assert_equal [7, nil, nil], Figure.of_rounds("f", "x", [7]).to_a.drop(2)
    end

    test "a target is judged by the number, not by what is written of it" do
      least = Target.new(what: "w", part: "p", figure: "f", sense: :least, bound: 2)
      assert least.met?(2.0)
      assert_not least.met?(1.9999)
      most = Target.new(what: "w", part: "p", figure: "f", sense: :most, bound: 2)
      assert most.met?(2.0)
      assert_not most.met?(2.0001)
    end

    test "where a ratio is the other way round, so is its range" do
      target = Target.new(what: "w", part: "p", figure: "f", sense: :most, bound: 2, inverse: true)
      found = target.measured([Figure.new(name: "f", unit: "x", median: 0.5, low: 0.25, high: 1.0)])
      assert_equal [2.0, 1.0, 4.0], [found.median, found.low, found.high]
      assert_nil target.measured(nil)
      assert_nil target.measured([])
    end

    test "the table tells what is met, what falls short and what was not measured" do
      report = Report.new("applications" => part("record: memory as larder", 2.9999))
      assert_match(/Record object, read, MemoryStore: times as long \| ≥ 3 \| 2\.99 \| \*\*falls short\*\* \|$/,
                   report.markdown)
      assert_equal({ "**falls short**" => 1, "not measured" => Targets::ALL.size - 1 }, report.tally)
      line = JSON.parse(report.json).fetch("targets").find { |target| target["measured"] }
      assert_equal ["falls short", 2.9999], line.values_at("verdict", "measured")
    end

    test "a quick run says so, and gems and machine are named" do
      text = Report.new("applications" => part("record: memory as larder", 4.0)).markdown
      assert_match(/A quick run: an impression/, text)
      assert_match(/^- gems: redis 5\.4$/, text)
      assert_match(/^- cores: 2$/, text)
      assert_match(/^Not measured: litecache: gone$/, text)
    end

    test "every target belongs to a part, and no two are of the same figure" do
      assert_empty Targets::ALL.map(&:part) - Parts::ALL.keys
      assert_nil Targets::ALL.map { |target| [target.part, target.figure] }.tally.values.find { |count| count > 1 }
    end

    private

    def part(figure, median)
      { "mode" => "quick", "environment" => { "cores" => 2, "load_average" => 0.1 },
        "circumstances" => { "versions" => { "redis" => "5.4" }, "not measured" => { "litecache" => "gone" } },
        "figures" => [{ "name" => figure, "unit" => "x", "median" => median }] }
    end
  end
end
