# frozen_string_literal: true

require "test_helper"

# For how long the items of a file are trusted to be what another store has.
class LarderCacheTrustTest < ActiveSupport::TestCase
  include TemporaryCaches

  test "a file is trusted for as long as it was said" do
    assert_not_predicate cache, :trusted?
    assert_equal true, cache.trust_for(10)
    assert_predicate cache, :trusted?
    cache.trust_for(0)
    assert_not_predicate cache, :trusted?
  end

  test "trust counts from when the other store was asked" do
    asked = [Process::CLOCK_MONOTONIC, Process::CLOCK_REALTIME].map { |clock| Process.clock_gettime(clock) }
    cache.trust_for(10, since: asked)
    assert_predicate cache, :trusted?
    cache.trust_for(10, since: asked.map { |time| time - 11 })
    assert_not_predicate cache, :trusted?
  end

  test "what it takes is checked" do
    [1, [1], [1, 2, 3]].each do |given|
      error = assert_raises(Larder::InvalidArgument) { cache.trust_for(1, since: given) }
      assert_includes error.message, given.inspect
    end
    [61, -1, nil, "1", Float::NAN].each do |given|
      error = assert_raises(Larder::InvalidArgument) { cache.trust_for(given) }
      assert_match(/seconds from 0 to 60, not #{Regexp.escape(given.inspect)}/, error.message)
    end
  end
end
