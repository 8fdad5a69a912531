# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

class LarderStoreKeyMatcherTest < ActiveSupport::TestCase
  KeyMatcher = Larder::Store::KeyMatcher

  # @return [Array<String>] those of the keys that the glob matches in a namespace
  def matching(glob, *keys, prefix: "shop:")
    matcher = KeyMatcher.new("#{prefix}#{glob}", glob, prefix)
    keys.select { |key| matcher.match?(key) } # rubocop:disable Style/SelectByRegexp -- it is none
  end

  test "a glob matches whole keys of its namespace" do
    assert_equal %w[shop:ab], matching("a?", "shop:ab", "shop:abc", "ab", "other:ab", "shop:xab")
    assert_equal %w[shop:a shop:abc], matching("a*", "shop:a", "shop:abc", "shop:ba")
  end

  test "a slash and a leading dot are characters as any other" do
    assert_equal %w[shop:a/b shop:.a], matching("*", "shop:a/b", "shop:.a")
  end

  test "a star in the namespace stands for itself" do
    assert_equal %w[s*p:a], matching("a", "s*p:a", "shop:a", prefix: "s*p:")
  end

  test "keys with NUL and with invalid bytes can be matched" do
    assert_equal ["shop:a\0b".b], matching("a?b", "shop:a\0b".b)
    assert_equal ["shop:a\0b".b], matching("a\0b", "shop:a\0b".b)
    assert_equal ["shop:\xFFx".b, "shop:\xE2\x82x".b], matching("?x", "shop:\xFFx".b, "shop:\xE2\x82x".b)
    assert_equal ["shop:ü".b], matching("?", "shop:ü".b)
  end

  test "a Regexp is searched in the key, and there is no glob" do
    matcher = KeyMatcher.new(/b+/, nil, "")
    assert_predicate matcher, :regexp?
    assert_equal([true, true, false], %w[abba b c].map { |key| matcher.match?(key) })
    refute_predicate KeyMatcher.new("a", "a", ""), :regexp?
  end
end
