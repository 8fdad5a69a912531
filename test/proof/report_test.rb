# frozen_string_literal: true

require "test_helper"
require_relative "../../proof/support/report"

module Proof
  class ReportTest < ActiveSupport::TestCase
    setup { @report = Report.new("crash", "Nothing is lost", { mode: "full", commit: "abc" }) }

    test "counts of one label add up" do
      @report.count("killed", 1000)
      @report.count("killed", 234)
      assert_equal [1234], @report.counts.map(&:number)
    end

    test "of two shares the last one stands" do
      @report.count("lines", 90.0, unit: "%")
      @report.count("lines", 96.5, unit: "%")
      assert_match(/^  96\.5 %  lines$/, @report.text)
    end

    test "a proof that counted something and met no failure holds" do
      @report.count("killed", 12_345)
      assert_predicate @report, :passed?
      assert_match(/^  12,345  killed$/, @report.text)
      assert_match(/^holds, full run/, @report.text)
      assert_match(/^\| 12,345 \| killed \|$/, @report.markdown)
    end

    test "a proof that counted nothing has failed" do
      @report.count("killed", 0)
      assert_not_predicate @report, :passed?
      assert_equal "FAILS: nothing was counted", @report.verdict
    end

    test "a proof with a failure has failed, and says what failed" do
      @report.count("killed", 5)
      @report.fail("an old value came back")
      assert_not_predicate @report, :passed?
      assert_match(/FAILED: an old value came back/, @report.text)
      assert_match(/an old value came back/, @report.markdown)
      assert_equal false, @report.to_h[:passed]
    end

    test "a note is said once" do
      2.times { @report.note("no cgroups here") }
      assert_equal 1, @report.text.scan("no cgroups here").size
    end
  end
end
