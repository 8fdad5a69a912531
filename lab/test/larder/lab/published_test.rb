# frozen_string_literal: true

require "test_helper"
require "larder/lab/published"
require "larder/lab/suites"

module Larder
  module Lab
    class PublishedTest < ActiveSupport::TestCase
      test "a factor is written as a number of times, a word, or as alike" do
        words = [2.5, 4.0, nil, "more"].map { |factor| Published::Finding.new(factor: factor).words }
        assert_equal ["2.5 ×", "4 ×", "alike", "more"], words
      end

      test "the contenders and blocks of each finding exist" do
        suite = Suites.fetch(Published::SUITE)
        Published::FINDINGS.each do |finding|
          assert_equal finding.pairs.flatten.uniq, Contenders.check(finding.pairs.flatten.uniq)
          [finding.block, finding.slower_block].compact.each { |key| assert suite.fetch(key) }
        end
      end

      test "no pair of rows is in two findings of a block, and only figures, words or nothing are published" do
        pairs = Published::FINDINGS.map do |finding|
          [[finding.faster, finding.slower].map { |side| Array(side) }.sort, finding.block]
        end
        assert_equal pairs.uniq, pairs
        assert_empty Published::FINDINGS.map(&:factor).grep_v(Float) - [nil, "more", "far more"]
      end
    end
  end
end
