# frozen_string_literal: true

require "test_helper"
require "larder/lab/warnings"

module Larder
  module Lab
    class WarningsTest < ActiveSupport::TestCase
      test "other work is suspected from seven tenths of all cores on" do
        assert_nil Warnings.busy(load_average: 1.4, cores: 2)
        assert_equal "Other work was running when the run began: load 1.5 on 2 cores.",
                     Warnings.busy(load_average: 1.5, cores: 2)
      end

      test "no load average, no warning" do
        assert_nil Warnings.busy(load_average: nil, cores: 2)
      end

      test "one round and two show no difference" do
        assert_match(/A single round has no interval/, Warnings.few(1))
        assert_match(/Two rounds have no interval/, Warnings.few(2))
      end

      test "what an interval of few rounds is worth is said" do
        { 3 => 75, 4 => 87 }.each do |rounds, held|
          assert_match(/ #{rounds} rounds is their range, .* #{held} of 100 runs: an impression/, Warnings.few(rounds))
        end
        assert_nil Warnings.few(5)
      end

      test "rounds that lie far apart are named with the step, the widest first" do
        words = Warnings.far_apart([[%w[redis one hit], [10, 14, 10]], [%w[larder one hit], [10, 10.1, 10.2]],
                                    [%w[file many write], [10, 30, 10]]])
        assert_equal "Rounds lay far apart: file (many, write: 200 %), redis (one, hit: 40 %). " \
                     "The machine was not quiet.", words
      end

      test "of many four are named" do
        blocks = Array.new(6) { |i| [["store #{i}", "hit"], [1, 2, 1]] }
        assert_match(/, store 3 \(hit: \d+ %\) and 2 more\. The machine/, Warnings.far_apart(blocks))
      end

      test "rounds that lie together are not mentioned" do
        assert_nil Warnings.far_apart([[%w[redis hit], [10, 11, 12]]])
      end
    end
  end
end
