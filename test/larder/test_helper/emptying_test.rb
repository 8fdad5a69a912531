# frozen_string_literal: true

require "support/store_case"
require "larder/test_helper"

# Stores that have an empty file in memory for a while.
class TestHelperEmptyingTest < StoreCase
  include Larder::TestHelper

  test "the block has an empty cache in another file, and afterwards the former one is back" do
    store.write("a", 1)
    former = store.cache
    inside = with_empty_cache(cache: store) do
      assert_not_cached "a", cache: store
      store.write("a", 2)
      [store.cache.path, store.read("a")]
    end
    assert_equal 2, inside.last
    assert_not_equal former.path, inside.first
    assert_not File.exist?(inside.first)
    assert_same former, store.cache
    assert_equal 1, store.read("a")
  end

  test "a block that raises gives the former cache back" do
    former = store.cache
    assert_raises(RuntimeError) { with_empty_cache(cache: store) { raise "in the block" } }
    assert_same former, store.cache
  end

  test "blocks within blocks are empty each" do
    with_empty_cache(cache: store) do
      store.write("a", 1)
      with_empty_cache(cache: store) do
        assert_not_cached "a", cache: store
        store.write("a", 2)
      end
      assert_equal 1, store.read("a")
    end
    assert_nil store.read("a")
  end

  test "threads of the block have the empty cache, and the fast path answers" do
    store.write("a", 1)
    with_empty_cache(cache: store) do
      assert_cache_misses(4, cache: store) do
        Array.new(4) { |number| Thread.new { store.fetch("a#{number}") { 2 } } }.each(&:value)
      end
      assert_not_cached "a", cache: store
      assert store.stats[:fast_path][:on]
    end
  end

  test "a forked child shares the empty cache" do
    with_empty_cache(cache: store) do
      store.write("a", 1)
      assert_equal 1, in_child { store.read("a").tap { store.write("b", 2) } }
      assert_equal 2, store.read("b")
    end
  end

  test "options of the store hold in the empty cache" do
    counted = new_store("counted.larder", namespace: "n", expires_in: 60, size: 2 << 20)
    with_empty_cache(cache: counted) do
      counted.write("a", 1)
      assert_equal 2 << 20, counted.cache.size
      assert_equal ["n:a"], counted.cache.each_key.to_a
      travel(61) { assert_nil counted.read("a") }
    end
  end

  test "a large cache has a small file" do
    large = new_store("large.larder", size: 64 << 20)
    with_empty_cache(cache: large) { assert_equal 16 << 20, large.cache.size }
  end

  test "a store with a store behind it is refused, with the remedy" do
    two = new_store("two.larder", remote: [:file_store, path_of("remote")])
    error = assert_raises(ArgumentError) { with_empty_cache(cache: two) { flunk } }
    assert_equal "the cache has ActiveSupport::Cache::FileStore behind it (remote:), which with_empty_cache cannot " \
                 "empty: leave out remote: in config/environments/development.rb", error.message
  end

  test "reads through two levels count once each" do
    two = new_store("two.larder", remote: [:file_store, path_of("remote")])
    two.write("a", 1)
    two.level.local.delete("a")
    assert_cache_hits(1, cache: two) { two.read("a") }
    assert_cache_misses(2, cache: two) { two.fetch_multi("b", "c") { 1 } }
  end
end
