# frozen_string_literal: true

require "support/store_case"
require "larder/test_helper"

# The assertions, over a store of the test that they are given by cache:, or that is Rails.cache.
class LarderTestHelperTest < StoreCase
  include Larder::TestHelper

  setup { @calls = 0 }

  test "a key is cached or is not" do
    store.write("a", 1)
    assert_cached "a", cache: store
    assert_not_cached "b", cache: store
    refute_cached "b", cache: store
    store.write("c", 1, namespace: "n")
    assert_cached "c", cache: store, namespace: "n"
    assert_equal '"a" is cached', failure { assert_not_cached "a", cache: store }
  end

  test "a key that is not cached is named with those that are" do
    assert_equal '"b" is not cached, and the cache is empty', failure { assert_cached "b", cache: store }
    store.write_multi("a" => 1, "c" => 2)
    assert_equal %("b" is not cached; these are:\n  "a"\n  "c"), failure { assert_cached "b", cache: store }
    store.write_multi((1..30).to_h { |number| ["n#{number}", 1] })
    assert_match(/\n  and 12 more\z/, failure { assert_cached "b", cache: store })
  end

  test "an entry of another version is named as such" do
    store.write("a", 1, version: "1")
    assert_cached "a", cache: store, version: "1"
    assert_equal '"a" is cached, but in another version', failure { assert_cached "a", cache: store, version: "2" }
  end

  on_both_paths "fetch, read and their multi forms count each key once" do
    store.write_multi("a" => 1, "b" => 2)
    reads = capture_cache_reads(cache: store) do
      store.fetch("a") { flunk }
      store.fetch("c") { 3 }
      store.read("d")
      store.read_multi("a", "d", "e", "e")
      store.fetch_multi("b", "f", "g", "f") { 1 }
      store.exist?("h")
      store.fetch("i", force: true) { 1 }
      store.increment("j")
    end
    assert_equal [["a", :fetch], ["a", :read_multi], ["b", :fetch_multi]],
                 (reads.hits.map { |read| [read.key, read.operation] })
    assert_equal [["c", :fetch], ["d", :read], ["d", :read_multi], ["e", :read_multi], ["f", :fetch_multi],
                  ["g", :fetch_multi]], (reads.misses.map { |read| [read.key, read.operation] })
  end

  test "an entry that has expired, and one of another version, are misses" do
    store.write("old", 1, expires_in: 60, race_condition_ttl: 60)
    store.write("versioned", 1, version: "1")
    travel 90 do
      assert_cache_misses(2, cache: store) do
        store.fetch("old") { 2 }
        store.read("versioned", version: "2")
      end
    end
  end

  test "a read that raises is neither a hit nor a miss" do
    reads = capture_cache_reads(cache: store) do
      assert_raises(ArgumentError) { store.read("") }
      assert_raises(ArgumentError) { store.read_multi("a", "") }
      assert_raises(RuntimeError) { store.fetch("b") { raise "no value" } }
    end
    assert_equal ["b"], reads.all.map(&:key)
  end

  test "namespaces and names of other classes are counted by the keys of the file" do
    spaced = new_store("spaced.larder", namespace: "n")
    reads = capture_cache_reads(cache: spaced) do
      spaced.fetch([:a, 1]) { 1 }
      spaced.fetch_multi([:a, 1], :b, namespace: "m") { 1 }
      spaced.read_multi([:a, 1])
    end
    assert_equal %w[n:a/1 m:a/1 m:b n:a/1], reads.all.map(&:key)
    assert_equal [false, false, false, true], reads.all.map(&:hit)
    assert_cache_hits(1, key: [:a, 1], cache: spaced) { spaced.read_multi([:a, 1], :b) }
  end

  test "the block is answered in C, as without the assertion" do
    store.write("a", 1)
    methods = []
    point = TracePoint.new(:call) do |call|
      methods << call.method_id if call.path.match?(%r{/larder/store/(?:entries|multi|call)\.rb})
    end
    assert_cache_hits(3, cache: store) do
      store.read("a")
      point.enable do
        store.fetch("a", expires_in: 60) { 1 }
        store.read_multi("a", "b")
      end
      assert store.stats[:fast_path][:on] if Larder::Store::Keys::INSTRUMENTS_KEYS
    end
    assert_empty methods if Larder::Store::Keys::INSTRUMENTS_KEYS # Rails 7.1 has other payloads
  end

  test "counts are exact, and the block's value is the assertion's" do
    assert_equal(:value, assert_cache_misses(2, cache: store) { store.read_multi("a", "b") && :value })
    assert_cache_misses(cache: store) { store.read("a") }
    assert_cache_misses(1..3, cache: store) { store.read("a") }
    assert_no_cache_misses(cache: store) { store.write("a", 1) && store.read("a") }
    assert_cache_hits(1, cache: store) { store.read("a") }
    [[1, 2], [2, 1], [1, 0]].each do |expected, reads|
      assert_raises(Minitest::Assertion) do
        assert_cache_misses(expected, cache: store) { reads.times { store.read("b") } }
      end
    end
    assert_raises(Minitest::Assertion) { assert_cache_hits(cache: store) { store.read("b") } }
  end

  test "a failure names the keys that missed, the calls, and the keys that hit" do
    store.write("a", 1)
    place = "#{__FILE__.delete_prefix("#{Dir.pwd}/")}:#{__LINE__ + 1}"
    text = failure { assert_cache_misses(2, cache: store) { store.fetch("b") { store.read("a") } } }
    assert_equal ["expected 2 misses, got 1 miss:", "  \"b\" by fetch, #{place}", "1 hit:",
                  "  \"a\" by read, #{place}"], text.lines(chomp: true)
    text = failure { assert_no_cache_misses(cache: store) { store.read_multi(*(1..25).map(&:to_s)) } }
    assert_match(/\Aexpected no misses, got 25 misses:\n/, text)
    assert_match(/^  and 5 more$/, text)
  end

  test "a failure without any read says so" do
    assert_equal "expected at least 1 hit, got no hits\nnothing was read from the cache",
                 failure { assert_cache_hits(cache: store) { 1 } }
  end

  test "keys can be chosen" do
    assert_cache_misses(1, key: "a", cache: store) { store.read_multi("a", "b", "c") }
    assert_cache_misses(2, key: /[bc]/, cache: store) { store.read_multi("a", "b", "c") }
    assert_cache_misses(2, key: ->(key) { key > "a" }, cache: store) { store.read_multi("a", "b", "c") }
    assert_no_cache_misses(key: "d", cache: store) { store.read("a") }
  end

  test "a failure names the reads that key: leaves out" do
    store.write("c", 1)
    place = "#{__FILE__.delete_prefix("#{Dir.pwd}/")}:#{__LINE__ + 1}"
    text = failure { assert_cache_misses(1, key: "typo", cache: store) { store.read_multi("a", "b", "c") } }
    assert_equal ["expected 1 miss, got no misses", 'not counted because of key: "typo": 2 misses and 1 hit:',
                  "  \"a\" by read_multi, #{place}", "  \"b\" by read_multi, #{place}",
                  "  \"c\" by read_multi, #{place}"], text.lines(chomp: true)
    assert_equal "expected 1 miss, got no misses\nnothing was read from the cache",
                 failure { assert_cache_misses(1, key: "typo", cache: store) { 1 } }
  end

  test "the remedy for fragments is named only if nothing at all was read" do
    without_caching_of_fragments do
      assert_match(/perform_caching = true/, failure { assert_cache_misses(key: "a", cache: store) { 1 } })
      assert_no_match(/perform_caching/, failure { assert_cache_misses(key: "a", cache: store) { store.read("b") } })
    end
  end

  test "keys of invalid text can be chosen" do
    keys = %W[b\xFF é\xFF é]
    { /b/ => 1, /é/ => 2, /\A\p{L}\z/ => 1, /\xFF/n => 2, /\xC3\xA9/n => 2, "é" => 1, "é".b => 1,
      "b\xFF" => 1 }.each do |key, count|
      assert_cache_misses(count, key: key, cache: store) { keys.each { |name| store.read(name) } }
    end
  end

  on_both_paths "a name chooses its reads also where a call names a namespace" do
    [store, new_store("spaced.larder", namespace: "n")].each do |one|
      assert_cache_misses(2, key: "z", cache: one) do
        one.read("z", namespace: "m")
        one.read_multi("z", "y", namespace: "m")
      end
      assert_cache_misses(1, key: "z", cache: one) { one.fetch("z") { 1 } }
    end
  end

  test "assertions within assertions count for both" do
    assert_cache_misses(3, cache: store) do
      store.read("a")
      assert_cache_misses(2, cache: store) { store.read_multi("b", "c") }
      assert_no_cache_misses(cache: store) { store.write("d", 1) }
    end
  end

  test "all threads of the block count, also those with assertions of their own" do
    assert_cache_misses(400, cache: store) do
      threads = Array.new(4) do |number|
        Thread.new { 100.times { |i| store.fetch("#{number}/#{i}") { i } } }
      end
      threads.each(&:join)
    end
    assert_cache_hits(4, cache: store) do
      threads = Array.new(4) do |number|
        Thread.new { assert_cache_hits(cache: store) { store.read("#{number}/1") } }
      end
      threads.each(&:join)
    end
  end

  test "reads of other stores do not count" do
    other = new_store("other.larder")
    memory = ActiveSupport::Cache::MemoryStore.new
    assert_cache_misses(2, cache: store) do
      [store, other, memory].each { |one| one.read("a") }
      assert_cache_misses(1, cache: other) { [store, other].each { |one| one.read_multi("b") } }
    end
    assert_cache_misses(1, cache: store) { store.clone.read("c") }
  end

  test "another store is refused, with the remedy" do
    error = assert_raises(ArgumentError) { assert_cached "a", cache: ActiveSupport::Cache::NullStore.new }
    assert_equal "cache: is ActiveSupport::Cache::NullStore, and Larder::TestHelper is for a Larder store: set " \
                 "config.cache_store = :larder_store in config/environments/development.rb", error.message
    assert_raises(ArgumentError) { assert_cache_misses(1, cache: ActiveSupport::Cache::MemoryStore.new) { 1 } }
    error = assert_raises(ArgumentError) { assert_cached "a" }
    assert_match(/there is no Rails\.cache; name a store by cache:/, error.message)
  end

  test "wrong arguments are named" do
    { "-1" => -1, '"2"' => "2", "1.5" => 1.5, '"a".."b"' => "a".."b", "-1..2" => -1..2, "1.0..2" => 1.0..2,
      "3..1" => 3..1, "nil..nil" => nil.. }.each do |text, count|
      error = assert_raises(ArgumentError) { assert_cache_misses(count, cache: store) { 1 } }
      assert_match(/\Aa number of cache reads is 0 or more, .*; got #{Regexp.escape(text)}\z/, error.message)
    end
    [Object.new, Regexp.new("é".encode("EUC-JP"))].each do |key|
      error = assert_raises(ArgumentError) { assert_cache_misses(1, key: key, cache: store) { flunk } }
      assert_match(/\Akey: is #{Regexp.escape(key.inspect)}, .*; it takes a name .*, a Regexp .*, or a Proc/,
                   error.message)
    end
    [-> { assert_cache_hits(1, cache: store) }, -> { assert_no_cache_misses(cache: store) },
     -> { capture_cache_reads(cache: store) }, -> { with_empty_cache(cache: store) }].each do |call|
      assert_match(/needs a block/, assert_raises(ArgumentError, &call).message)
    end
  end

  test "without Minitest and RSpec a failure is an exception" do
    object = Object.new.extend(Larder::TestHelper)
    error = assert_raises(Larder::TestHelper::Failed) { object.assert_cached("a", cache: store) }
    assert_match(/is not cached/, error.message)
    assert_nil object.assert_not_cached("a", cache: store)
  end

  private

  # As in an application with perform_caching = false.
  def without_caching_of_fragments
    before = Object.send(:remove_const, :ActionController) if defined?(ActionController)
    Object.const_set(:ActionController, Module.new).const_set(:Base, Struct.new(:perform_caching).new(false))
    yield
  ensure
    Object.send(:remove_const, :ActionController)
    Object.const_set(:ActionController, before) if before
  end

  # @return [String] the message of the assertion that fails in the block
  def failure(&block)
    assert_raises(Minitest::Assertion, &block).message.delete_suffix(".")
  end
end
