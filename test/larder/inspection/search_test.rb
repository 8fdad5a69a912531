# frozen_string_literal: true

require "test_helper"
require "larder/inspection"

module Larder
  module Inspection
    # A search that is interrupted and continued.
    class SearchTest < ActiveSupport::TestCase
      include TemporaryCaches

      KEYS = Array.new(3000) { |i| format("k/%04d", i) }.freeze

      setup { KEYS.each { |key| cache.set(key, key * (1 + (key.hash % 3))) } }

      def search(pattern = "", **options, &block)
        Search.new(cache, Pattern.new(pattern), limit: 50, **options, &block)
      end

      # Results of a search and its continuations.
      def all(search)
        results = [search.from(Search::START)]
        results << search.from(results.last.position) while results.last.position
        results
      end

      test "its continuations find every key once, and its progress grows" do
        results = all(search)
        assert_equal KEYS, results.flat_map { |result| result.items.map(&:key) }.sort
        assert_operator results.size, :>, 55
        assert_equal 50, results.first.items.size
        progress = results.map(&:to)
        assert_equal progress.sort, progress
        assert_equal [0.0, 1.0], [results.first.from, results.last.to]
        assert_includes 0.005..0.05, progress.first
      end

      test "it finds what matches a pattern and the block" do
        found = all(search("k/*7") { |key| key.end_with?("07") })
        assert_equal KEYS.grep(/07\z/), found.flat_map { |result| result.items.map(&:key) }.sort
      end

      test "without time it looks at one step of the walk, sorted or not" do
        first = search("k/1", sort: "size", budget: 0).from(Search::START)
        assert_operator first.items.size, :<=, 50
        assert_operator first.to, :<, 1.0
        assert_equal first.items.map(&:size).sort.reverse, first.items.map(&:size)
        assert_equal KEYS.grep(%r{\Ak/1}).size,
                     all(Search.new(cache, Pattern.new("k/1"), limit: 2000, sort: "size", budget: 0))
                       .sum { |result| result.items.size }
      end

      test "a position that is not one is refused, and that of another file begins again" do
        ["", "x", "-1", "1-", "99999999999999999999", "1-999999", "\xff", "0\n"].each do |position|
          assert_raises(Invalid, position) { search.from(position) }
        end
        assert_equal 50, search.from("17").items.size
        assert_equal 0.0, search.from("17").from
      end

      test "an unknown order is refused" do
        error = assert_raises(Invalid) { search("", sort: "colour") }
        assert_match(/cannot sort by colour; known: size/, error.message)
      end

      test "a literal pattern has no wildcards" do
        cache.set("a*b", "1")
        cache.set("axb", "1")
        found = Search.new(cache, Pattern.new("a*", literal: true), limit: 5).from(Search::START)
        assert_equal ["a*b"], found.items.map(&:key)
      end
    end
  end
end
