# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

class LarderStoreCallTest < ActiveSupport::TestCase
  Call = Larder::Store::Call
  Entry = ActiveSupport::Cache::Entry

  def call(version: nil, prefix: "", **options)
    Call.new(:name, "key", options, version, prefix)
  end

  test "a call cannot be changed" do
    assert_predicate call, :frozen?
  end

  test "single flight is off where the value is computed in any case" do
    assert_predicate call(single_flight: true), :single_flight?
    refute_predicate call(single_flight: true, force: true), :single_flight?
    assert_same false, call.single_flight?
  end

  test "an entry is kept for each of the three options, and leases are taken for single flight, too" do
    kept = %i[stale_while_revalidate stale_if_error early_refresh].map { |name| call(name => 5) }
    assert_equal [[true] * 3, [true] * 3], [kept.map(&:keeps?), kept.map(&:leases?)]
    assert_equal [false, false], [call(race_condition_ttl: 5).keeps?, call(stale_if_error: nil).leases?]
    assert_predicate call(single_flight: true), :leases?
  end

  test "an old value can be an answer after soft_timeout only if it can after an error" do
    assert_predicate call(soft_timeout: 1, stale_if_error: 5), :soft?
    refute_predicate call(soft_timeout: 1), :soft?
    refute_predicate call(soft_timeout: 1, stale_if_error: 5, force: true), :soft?
  end

  test "wait and lease have defaults, and are numbers" do
    assert_equal [5.0, 30.0], [call.wait, call.lease]
    assert_equal [0.0, 2.0], [call(wait: 0).wait, call(lease: 2).lease]
  end

  test "an entry may be the answer while it is fresh, or for the time of the option" do
    freeze = Time.now
    fresh, old = [60, -10].map { |seconds| Entry.new(1, expires_at: freeze + seconds, version: "1") }
    error = call(stale_if_error: 20, version: "1")
    assert_equal [fresh, old], [fresh, old].map { |entry| error.usable(entry, :stale_if_error) }
    assert_equal [fresh, nil], [fresh, old].map { |entry| error.usable(entry, :stale_while_revalidate) }
    assert_nil call(stale_if_error: 5, version: "1").usable(old, :stale_if_error)
    assert_nil call(stale_if_error: 20, version: "2").usable(old, :stale_if_error)
    assert_nil error.usable(nil, :stale_if_error)
  end

  test "the old value of a block is one of either option, and the window is the longer one" do
    old = Entry.new(1, expires_at: Time.now - 10)
    either = [{ stale_if_error: 20 }, { stale_while_revalidate: 20 }]
    assert_equal([old, old], either.map { |options| call(**options).old(old) })
    assert_equal([nil, nil], [{}, { stale_if_error: 5 }].map { |options| call(**options).old(old) })
    assert_equal 20.0, call(stale_if_error: 5, stale_while_revalidate: 20).window
    assert_nil call(race_condition_ttl: 9).window
  end

  test "a later call has the key for its name, and all tags as texts, but neither waits nor answers early" do
    given = call(namespace: "shop", prefix: "shop:", tags: "red", version: "1", single_flight: true, soft_timeout: 1)
    later = given.later
    assert_equal ["key", "key", "1", "shop:"], [later.name, later.key, later.version, later.prefix]
    assert_equal ["\0red", "shop:"], later.texts
    assert_equal [false, false, nil], [later.single_flight?, later.soft?, later.options[:namespace]]
    assert_equal later.texts, later.later.texts
  end

  test "a key of many has a call of its own" do
    one = call(version: "1", prefix: "shop:", tags: "red").of("other")
    assert_equal %w[other other 1 shop:], [one.name, one.key, one.version, one.prefix]
  end
end
