# frozen_string_literal: true

# How reads are counted: a read is a hit if the file answers it. See docs/guides/monitoring.md, "What is a hit".

require "support/store_case"

module LarderStore
  # The hits, misses and stale hits of a store, and of a keyspace.
  class CountedReadsTest < StoreCase
    # A remote store that can be cut off.
    class Cut < ActiveSupport::Cache::MemoryStore
      attr_accessor :down

      def read_entry(*arguments, **options)
        raise IOError, "cut off" if down

        super
      end
      private :read_entry
    end

    Product = Struct.new(:id, :version) do
      def cache_key = "products/#{id}"
      def cache_version = version
    end

    HIT = { hits: 1, misses: 0, stale_hits: 0 }.freeze
    STALE = { hits: 1, misses: 0, stale_hits: 1 }.freeze
    MISS = { hits: 0, misses: 1, stale_hits: 0 }.freeze

    def counts(store)
      store.stats.slice(:hits, :misses, :stale_hits)
    end

    def assert_counted(expected, store, message = nil)
      before = counts(store)
      yield
      assert_equal expected, counts(store).to_h { |name, count| [name, count - before[name]] }, message
    end

    # Every read of one name, with options of the call.
    def reads(store, **options)
      { "read" => -> { store.read("k", **options) }, "fetch" => -> { store.fetch("k", **options) { "computed" } },
        "read_multi" => -> { store.read_multi("k", **options) },
        "fetch_multi" => -> { store.fetch_multi("k", **options) { "computed" } } }
    end

    def two_levels(**options)
      new_store(remote: @remote = Cut.new, local_expires_in: 5, **options)
    end

    on_both_paths "a read of an entry that has expired is a miss, once" do
      [{}, { race_condition_ttl: 10 }, { single_flight: true }].each do |options|
        reads(store, **options).each do |name, read|
          store.write("k", "old", expires_in: 5)
          assert_counted(HIT, store, "#{name} #{options}") { read.call }
          travel(6) { assert_counted(MISS, store, "#{name} #{options}") { read.call } }
        end
      end
    end

    on_both_paths "a read of an entry of another version is a miss" do
      store.write(Product.new(1, "a"), "old")
      changed = Product.new(1, "b")
      assert_counted(HIT, store) { store.read(Product.new(1, "a")) }
      assert_counted(MISS, store) { store.read(changed) }
      assert_counted(MISS, store) { store.read_multi(changed) }
      assert_counted(MISS, store) { store.fetch(changed) { "new" } }
      assert_counted(HIT, store) { store.fetch(changed) { flunk } }
    end

    on_both_paths "each of many names counts once, also if C reads the first ones and not the others" do
      names = Array.new(100) { |i| "k#{i}" }
      store.write_multi(names.to_h { |name| [name, name] })
      store.write("k90", "long" * 100_000)
      assert_counted({ hits: 100, misses: 0, stale_hits: 0 }, store) { store.read_multi(*names) }
      store.delete("k20")
      assert_counted({ hits: 99, misses: 1, stale_hits: 0 }, store) { store.read_multi(*names) }
      store.write_multi({ "k20" => 20, "k90" => 90 })
      store.delete("k80")
      assert_counted({ hits: 99, misses: 1, stale_hits: 0 }, store) do
        store.fetch_multi(*names, stale_while_revalidate: 60) { |name| name }
      end
    end

    on_both_paths "an old value is a stale hit where it is the answer, and a miss where it is not" do
      { { stale_while_revalidate: 60 } => STALE, { stale_if_error: 60 } => MISS }.each do |options, expected|
        store.write("k", "old", expires_in: 5, **options)
        travel(6) { assert_counted(expected, store, options) { store.fetch_multi("k", **options) { "computed" } } }
        store.write("k", "old", expires_in: 5, **options)
        travel(6) { assert_counted(expected, store, options) { store.fetch("k", **options) { "computed" } } }
      end
      store.write("k", "old", expires_in: 5, stale_if_error: 600)
      travel(60) { assert_counted(MISS, store) { store.fetch("k", stale_while_revalidate: 10) { "computed" } } }
    end

    on_both_paths "a read that the remote store answers is a miss, once" do
      cache = two_levels
      reads(cache).each do |name, read|
        @remote.write("k", "remote")
        cache.cache.clear
        assert_counted(MISS, cache, name) { read.call }
        assert_counted(HIT, cache, name) { read.call }
      end
    end

    on_both_paths "a copy that is older than local_expires_in is a miss" do
      [{}, { stale_while_revalidate: 60 }, { stale_if_error: 60 }, { race_condition_ttl: 10 }].each do |options|
        cache = two_levels(**options)
        reads(cache, **options).each do |name, read|
          cache.write("k", "new", expires_in: 600, **options)
          assert_counted(HIT, cache, "#{name} #{options}") { read.call }
          travel(6) { assert_counted(MISS, cache, "#{name} #{options}") { read.call } }
        end
      end
    end

    on_both_paths "a copy that is the answer as the remote store does not answer is a hit" do
      cache = two_levels(stale_while_revalidate: 60)
      cache.write("k", "old", expires_in: 600)
      @remote.down = true
      travel(6) do
        assert_counted(STALE, cache) { assert_equal "old", cache.fetch("k") { "computed" } }
      end
    end

    test "copies that are not trusted are misses" do
      cache = two_levels
      level = cache.send(:level)
      cache.write("k", "new")
      level.machines.define_singleton_method(:trusted?) { false }
      Larder::Store::FastPath.without do
        reads(cache).each { |name, read| assert_counted(MISS, cache, name) { read.call } }
      end
    end

    test "the hit ratio of a store with remote: is the part of reads that asked no other machine" do
      cache = two_levels
      cache.write("k", "new")
      3.times { cache.read("k") }
      travel(6) { cache.read("k") }
      assert_in_delta 0.75, cache.stats[:hit_ratio]
    end

    test "the keyspace of the key counts the same" do
      cache = two_levels
      cache.write("pages/1", "new")
      3.times { cache.read("pages/1") }
      travel(6) { cache.read("pages/1") }
      cache.keep_statistics
      counts = Larder::Usage.read(cache.cache.path).keyspaces.find { |row| row.name == "pages" }.counts
      assert_equal [3, 1], [counts.hits, counts.misses]
    end

    test "exist? and what looks at an old value again do not count" do
      cache = new_store(stale_while_revalidate: 60, early_refresh: true)
      cache.write("k", "old", expires_in: 5)
      travel(6) { assert_counted(STALE, cache) { cache.fetch("k") { "computed" } } }
      assert_counted({ hits: 0, misses: 0, stale_hits: 0 }, cache) { cache.exist?("k") }
    end
  end
end
