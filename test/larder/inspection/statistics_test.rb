# frozen_string_literal: true

require "test_helper"
require "support/usages"
require "larder/inspection"

module Larder
  module Inspection
    class StatisticsTest < ActiveSupport::TestCase
      include TemporaryCaches

      test "statistics of a cache that keeps them are read" do
        Cache.open(path_of("c"), size: 1 << 20, statistics: true) { |cache| cache.set("users/1", "Ada") }
        read = Statistics.of(path_of("c"))
        assert_equal [["users"], nil], [read.usage.keyspaces.map(&:name), read.problem]
      end

      test "a cache without statistics, and a file that cannot be used, are explained" do
        Cache.open(path_of("c"), size: 1 << 20) { |cache| cache.set("users/1", "Ada") }
        assert_equal [nil, Statistics::NONE], Statistics.of(path_of("c")).to_a
        File.write(path_of("c.stats"), "a file of another program")
        read = Statistics.of(path_of("c"))
        assert_nil read.usage
        assert_match(/c\.stats/, read.problem)
      end

      test "figures for machines have nil where something is not known" do
        figures = Statistics.figures(Usages.counts({}))
        assert_equal [0, nil, nil, nil], figures.values_at(:reads, :hit_ratio, :mean_compute, :mean_evicted_age)
      end
    end
  end
end
