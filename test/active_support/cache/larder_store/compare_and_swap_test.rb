# frozen_string_literal: true

require "support/remote_case"

module LarderStoreTests
  # cas and cas_multi, in the file.
  class CompareAndSwapTest < StoreCase
    Point = Struct.new(:x)

    # For Marshal alone.
    class Parcel
      attr_reader :text

      def initialize(text) = @text = text
      def ==(other) = other.is_a?(Parcel) && text == other.text
    end

    VALUES = [nil, false, 1, -5, 1.5, :symbol, "text", "bytes \xFF".b, "long " * 60_000, { "a" => [1, nil] },
              Point.new(2), Parcel.new("object"), Time.utc(2026)].freeze

    on_both_paths "the block gets the value, and what it returns takes its place" do
      stores = { store => {}, new_store("c.larder", compress: true) => {},
                 new_store("n.larder", namespace: "app") => {},
                 new_store("m.larder", coder: Marshal) => {}, new_store("j.larder", serializer: :marshal) => {},
                 new_store("e.larder", expires_in: 60) => { version: 3 }, store.dup => { stale_while_revalidate: 60 } }
      stores.each do |cache, options|
        VALUES.each_with_index do |value, i|
          cache.write("key", value, options)
          seen = []
          assert_same true, cache.cas("key", options) { |old| seen << old && VALUES[i - 1] }
          assert_equal [[value], [VALUES[i - 1]]], [seen, [cache.read("key", options)]]
        end
      end
    end

    on_both_paths "a miss answers nil, and the block is not called" do
      store.write("expired", 1, expires_in: 1)
      store.write("versioned", 1, version: 1)
      store.write("stale", 1, expires_in: 1, stale_while_revalidate: 60, race_condition_ttl: 60)
      travel 2.seconds do
        assert_nil(store.cas("none") { flunk })
        assert_nil(store.cas("expired") { flunk })
        assert_nil(store.cas("versioned", version: 2) { flunk })
        assert_nil(store.cas("stale", stale_while_revalidate: 60) { flunk })
      end
    end

    CHANGES = {
      write: ->(store) { store.write("key", "other") }, delete: ->(store) { store.delete("key") },
      clear: lambda(&:clear), tag: ->(store) { store.delete_tagged("tag") },
      matched: ->(store) { store.delete_matched("k*") }, touch: ->(store) { store.cache.touch("key", ttl: 500) },
      count: ->(store) { store.increment("key") }, again: ->(store) { store.write("key", 1, expires_in: 70) },
      cas: ->(store) { store.cas("key") { 5 } }
    }.freeze

    CHANGES.each do |name, change|
      on_both_paths "a change of another process while the block runs stays: #{name}" do
        store.write("key", 1, expires_in: 60, tags: ["tag"])
        after = nil
        result = store.cas("key") do
          in_child { change.call(new_store) && nil }
          after = store.read("key")
          "mine"
        end
        assert_equal [false, after], [result, store.read("key")]
        refute_equal "mine", after
        store.write("key", 1, expires_in: 60, tags: ["tag"])
        result = store.cas_multi("key", "other") do |values|
          in_child { change.call(new_store) && nil }
          values.transform_values { "mine" }
        end
        refute result
        refute_equal "mine", store.read("key")
      end
    end

    # The entry that the block got is gone, and an equal one is in its place: the same bytes, and the same expiry.
    REWRITES = {
      deleted: ->(store) { store.delete("key") }, cleared: lambda(&:clear), overwritten: ->(_store) {},
      resized: ->(store) { store.cache.resize(9.megabytes) }
    }.freeze
    ENTRIES = {
      short: [[1, 2], {}], large: ["long " * 60_000, {}], versioned: ["text", { version: 3 }],
      "with expiry": ["text", { expires_at: Time.utc(2080) }], tagged: [[1], { tags: ["tag"] }],
      dumped: [Point.new(1), {}],
      "kept when stale": ["text", { expires_at: Time.utc(2080), stale_while_revalidate: 60 }]
    }.freeze

    REWRITES.each do |way, remove|
      on_both_paths "an entry that was #{way} and written again while the block runs has changed" do
        ENTRIES.each do |kind, (value, options)|
          travel_to(Time.utc(2030)) do
            store.write("key", value, options)
            rewrite = lambda do # by another caller
              Thread.new { [remove.call(store), store.write("key", value, options)] }.join
            end
            assert_same(false, store.cas("key", options) { rewrite.call && "mine" }, kind)
            assert_equal value, store.read("key", options), kind
            refute(store.cas_multi("key", **options) { rewrite.call && { "key" => "mine" } }, kind)
            assert_equal value, store.read("key", options), kind
            assert_same(true, store.cas("key", options) { "mine" }, kind)
          end
        end
      end
    end

    test "race_condition_ttl and unless_exist take no equal entry for the one that they read" do
      rewritten_once { assert_nil(store.fetch("key", race_condition_ttl: 30) { break }) }
      rewritten_once { refute store.write("key", "mine", unless_exist: true) }
    end

    test "of many processes that count with it, none loses a step" do
      store.write("n", [0])
      children = Array.new(4) do
        fork do
          cache = new_store
          25.times { nil until cache.cas("n") { |(n)| [n + 1] } }
          exit!(0)
        end
      end
      assert(children.all? { |child| wait_for(child).success? })
      assert_equal [100], store.read("n")
    end

    on_both_paths "a block that raises, breaks, throws or returns changes nothing, and its error is its own" do
      store.write("key", 1)
      assert_raises(Larder::Error) { store.cas("key") { raise Larder::Error, "the block's" } }
      assert_nil(store.cas("key") { break })
      assert_equal(5, store.cas("key") { break 5 })
      assert_equal :away, catch(:out) { store.cas("key") { throw :out, :away } }
      assert_equal :returned, -> { store.cas("key") { return :returned } }.call
      assert_raises(IOError) { store.cas_multi("key") { raise IOError } }
      assert_nil(store.cas_multi("key") { break })
      assert_equal 1, store.read("key")
    end

    on_both_paths "expiry, version and tags are those of the call, and without tags those of the old entry" do
      store.write("key", 1, expires_in: 10, tags: ["old"])
      assert(store.cas("key", { expires_in: 100, version: 7 }) { 2 })
      travel(50.seconds) { assert_equal [2, nil], [store.read("key", version: 7), store.read("key", version: 8)] }
      store.delete_tagged("old")
      assert_nil store.read("key")
      store.write("key", 1, tags: ["old"])
      assert(store.cas("key", tags: ["new"], expires_at: Time.now + 30) { 2 })
      store.delete_tagged("old")
      assert_equal 2, store.read("key")
      travel(31.seconds) { assert_nil store.read("key") }
      store.delete_tagged("new")
      assert_nil store.read("key")
      store.write("key", 1)
      assert(store.cas("key", expires_in: 0) { 2 })
      travel(1.second) { assert_nil store.read("key") }
    end

    on_both_paths "so it is with a value that is kept after it has expired" do
      [{ stale_if_error: 60 }, { expires_in: 60, stale_while_revalidate: 60 }, { early_refresh: true }].each do |kept|
        store.write("key", 1, tags: ["old"])
        assert(store.cas("key", **kept) { 2 })
        store.delete_tagged("old")
        assert_nil store.read("key")
        named = new_store(namespace: "named")
        named.write("key", 1)
        assert(named.cas("key", **kept) { 2 })
        named.clear
        assert_nil named.read("key")
      end
    end

    on_both_paths "a tag of the call that is deleted while the block runs deletes the new value" do
      store.write("key", 1)
      store.cas("key", tags: ["new"]) { store.delete_tagged("new") && 2 }
      assert_nil store.read("key")
      store.write("key", 1)
      store.cas_multi("key", tags: ["new"]) { |values| store.delete_tagged("new") && values }
      assert_nil store.read("key")
    end

    on_both_paths "options and namespace of the store count" do
      cache = new_store(namespace: "app", expires_in: 60)
      cache.write("key", 1)
      assert(cache.cas("key") { |value| value + 1 })
      assert_equal 2, cache.read("key")
      travel(61.seconds) { assert_nil cache.read("key") }
      assert_nil(cache.cas("key", namespace: "other") { flunk })
      cache.clear
      assert_nil(cache.cas("key") { flunk })
    end

    on_both_paths "cas_multi stores of many what has not changed, and nothing that was not there" do
      store.write_multi({ "a" => 1, "b" => 2, "c" => nil })
      seen = nil
      result = store.cas_multi("a", "b", "c", "none") do |values|
        seen = values.dup
        store.write("b", "other")
        { "a" => 10, "b" => 20, "c" => 30, "none" => 40 }
      end
      assert_equal({ "a" => 1, "b" => 2, "c" => nil }, seen)
      assert_same false, result
      assert_equal({ "a" => 10, "b" => "other", "c" => 30 }, store.read_multi("a", "b", "c", "none"))
      assert_same(true, store.cas_multi("a", :c, expires_in: 60) { { "a" => 1 } })
      assert_same(true, store.cas_multi("a") { {} })
      assert_nil(store.cas_multi { flunk })
    end

    test "wrong blocks are named" do
      store.write("a", 1)
      [nil, [], { "b" => 1 }].each do |given|
        error = assert_raises(ArgumentError) { store.cas_multi("a") { given } }
        assert_match(/\Athe block of cas_multi of LarderStore returned (nil|\[\]|a value for "b"); it/, error.message)
      end
      assert_raises(ArgumentError) { store.cas("a") }
      assert_raises(ArgumentError) { store.cas_multi("a") }
      assert_raises(TypeError) { store.cas("a") { -> {} } }
      assert_equal 1, store.read("a")
    end

    test "a value that is too long is reported, and the old one stays" do
      store.write("a", 1)
      reports = reported { assert_same false, store.cas("a") { "x" * (store.cache.max_value + 1) } }
      assert_equal [[Larder::InvalidArgument], 1], [reports.map(&:class), store.read("a")]
    end

    test "without a file all are misses, and nothing is stored" do
      File.write(path_of("foreign"), "not a cache")
      cache = ActiveSupport::Cache.lookup_store(:larder_store, path_of("foreign"), error_handler: nil)
      refute(cache.cas("a") { flunk })
      seen = nil
      refute(cache.cas_multi("a") { |values| (seen = values) && { "a" => 1 } })
      assert_empty seen
    end

    on_both_paths "each sends an event with key or keys" do
      store.write("a", 1)
      events = events_of do
        store.cas("a", expires_in: 5) { 2 }
        store.cas_multi("a", "b") { {} }
      end
      assert_equal %w[cache_cas.active_support cache_cas_multi.active_support], events.map(&:name)
      assert_equal ["a", %w[a b]], (events.map { |event| event.payload[:key] })
      assert_equal 5, events.first.payload[:expires_in]
      assert_match "Cache cas: a", log_of { store.cas("a") { 3 } }
    end

    private

    # An entry has expired ten seconds ago and is kept. Just before the block swaps it, it is deleted and stored again.
    def rewritten_once
      store.write("key", "old", expires_in: 60, race_condition_ttl: 60)
      swaps = 0
      travel 70.seconds do
        records = store.level.records
        before = store.send(:read_entry, "key").expires_at
        records.define_singleton_method(:cas) do |key, (bytes, flags, expires_at_ms, identity), record, now|
          swaps += 1
          @cache.delete(key)
          set(key, [bytes, flags, expires_at_ms - now], now)
          super(key, [bytes, flags, expires_at_ms, identity], record, now)
        end
        yield
        entry = store.send(:read_entry, "key")
        assert_equal [1, "old", before], [swaps, entry.value, entry.expires_at]
      ensure
        records.singleton_class.remove_method(:cas)
      end
    end
  end

  # With remote:, by that store's own.
  class RemoteCompareAndSwapTest < RemoteCase
    test "a remote store without cas is named, and the store says that it has none" do
      remote = ActiveSupport::Cache::MemoryStore.new
      cache = new_store(remote: remote)
      cache.write("a", 1)
      refute_respond_to cache, :cas
      refute_respond_to cache, :cas_multi
      assert_respond_to cache, :fetch_multi
      assert_respond_to store, "cas"
      [-> { cache.cas("a") { flunk } }, -> { cache.cas_multi("a") { flunk } }].each do |call|
        assert_match(/MemoryStore has none/, assert_raises(NotImplementedError, &call).message)
      end
      assert_equal 1, cache.read("a")
    end

    setup do
      next if name.include?("without_cas")

      require "dalli"
      require "support/identity_cache"
      @url = start_once("memcached").endpoint.fetch("url")
      @one, @two = machine("one"), machine("two")
      @one.clear
    end

    # As IdentityCache makes it of Rails' store.
    def remote
      ActiveSupport::Cache::MemCacheStore.new(@url, protocol: :meta).extend(IdentityCache::MemCacheStoreCAS)
    end

    test "one that has it decides, and copies of the old value are gone" do
      assert_respond_to @one, :cas
      @one.write_multi({ "a" => 1, "b" => 2 })
      assert_equal [1, 2], [@one.read("a"), @one.read("b")]
      assert(@one.cas("a") { |value| value + 10 })
      assert_equal 11, @one.read("a")
      refute(@one.cas("a") { @two.write("a", "other") && "mine" })
      assert_equal "other", @two.read("a")
      assert(@one.cas_multi("a", "b", "none") { |values| values.slice("b").merge("none" => 5) })
      assert_equal({ "a" => "other", "b" => 2 }, @one.read_multi("a", "b", "none"))
      refute(@one.cas("none") { flunk })
    end

    test "tags are kept, and what one has deleted is a miss" do
      @one.write("a", 1, tags: ["tag"])
      assert(@one.cas("a") { |value| value + 1 })
      assert_equal [2, 2], [@one.read("a"), @two.read("a")]
      @two.delete_tagged("tag")
      refute(@one.cas("a") { flunk })
      @one.write("b", 1)
      assert(@one.cas("b", tags: ["new"]) { |value| value + 1 })
      assert_equal 2, @one.read("b")
      @one.delete_tagged("new")
      assert_nil @one.read("b")
    end

    test "while it does not answer, nothing is found and nothing stored" do
      gone = ActiveSupport::Cache::MemCacheStore.new("127.0.0.1:1", protocol: :meta)
      cache = machine("three", remote: gone.extend(IdentityCache::MemCacheStoreCAS), error_handler: nil)
      logger, Dalli.logger = Dalli.logger, Logger.new(nil)
      refute(cache.cas("a") { flunk })
      cache.cas_multi("a") { |values| assert_empty(values) && { "a" => 1 } }
      assert_nil cache.read("a")
    ensure
      Dalli.logger = logger
    end

    test "an error of the block is its own" do
      @one.write("a", 1)
      assert_raises(Larder::Error) { @one.cas("a") { raise Larder::Error, "the block's" } }
      assert_equal(5, @one.cas("a") { break 5 })
      assert_equal 1, @two.read("a")
    end
  end
end
