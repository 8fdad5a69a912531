# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # What is logged, and how silence! and mute stop it.
  class LoggingAndErrorsTest < StoreCase
    test "operations are logged with the key and the options at the level debug" do
      log = log_of do
        store.read("r")
        store.write("w", 1, expires_in: 5)
        store.exist?("e")
        store.delete("d")
        store.increment("i")
        store.fetch("f") { 1 }
      end
      ["Cache read: r", "Cache write: w", "Cache exist?: e", "Cache delete: d", "Cache increment: i", "Cache read: f",
       "Cache generate: f", "Cache write: f"].each { |line| assert_includes log, line }
      assert_match(/Cache write: w .*expires_in/, log)
    end

    test "a namespace is in the log once" do
      cache = new_store(namespace: "n")
      log = log_of do
        cache.read("r")
        cache.increment("i")
        cache.decrement("d")
        cache.delete_matched("m*")
      end
      ["read: n:r", "increment: n:i", "decrement: n:d", "delete_matched: n:m*"].each do |line|
        assert_match(/Cache #{Regexp.escape(line)}( |$)/, log)
      end
    end

    test "multi forms are logged with their number of keys" do
      log = log_of do
        store.read_multi("a", "b")
        store.write_multi({ "a" => 1 })
        store.delete_multi(%w[a b c])
      end
      assert_includes log, "Cache read_multi: 2 key(s) specified"
      assert_includes log, "Cache write_multi: 1 key(s) specified"
      assert_includes log, "Cache delete_multi: 3 key(s) specified"
    end

    test "silence! and mute stop the log" do
      assert_empty log_of { store.mute { store.read("key") } }
      assert_not_empty(log_of { store.read("key") })
      assert_same store, store.silence!
      assert_predicate store, :silence?
      assert_empty log_of { store.read("key") }
    end

    test "inspect shows the file and the options" do
      cache = new_store(namespace: "n")
      shown = cache.inspect
      assert_includes shown, path_of("test.larder")
      assert_match(/namespace/, shown)
      assert_match(/\A#<ActiveSupport::Cache::LarderStore /, shown)
      cache.cache.close
      assert_includes cache.inspect, path_of("test.larder")
    end

    test "stats count hits and misses" do
      store.write("key", 1)
      before = store.stats
      store.read("key")
      store.read("nobody")
      assert_equal [1, 1], [store.stats[:hits] - before[:hits], store.stats[:misses] - before[:misses]]
    end

    test "prune drops down to a size, and reads nothing" do
      store.write_multi((0...100).to_h { |i| ["key/#{i}", "v" * 1000] })
      assert_equal 0, store.prune
      dropped = store.prune(20_000)
      assert_equal [0, 0], store.stats.values_at(:hits, :misses)
      assert_includes 80..90, dropped
      assert_equal 100 - dropped, store.read_multi(*(0...100).map { |i| "key/#{i}" }).size
      assert_equal 0, store.prune(20_000)
      assert_equal 0, store.prune(0, -1)
      assert_equal 100 - dropped, store.prune(0)
    end
  end
end
