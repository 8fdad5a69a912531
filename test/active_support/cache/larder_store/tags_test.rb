# frozen_string_literal: true

require "support/store_case"
require "active_record"
require "delegate"
require "timeout"

module LarderStoreTests
  # tags: and delete_tagged, clear of a namespace, keys. Each test runs in C and on ActiveSupport's path.
  class TagsTest < StoreCase
    Point = Struct.new(:x)

    class Base < ActiveRecord::Base
      self.abstract_class = true
      establish_connection(adapter: "sqlite3", database: ":memory:")
      connection.create_table(:tools) do |table|
        table.string :type
        table.timestamps
      end
    end

    class Tool < Base
      def self.model_name = ActiveModel::Name.new(self, nil, "Tool")
    end

    class Hammer < Tool
    end

    teardown { Larder::Store::Flights.end_work }

    on_both_paths "an entry goes with each of its tags, and others stay" do
      store.write("a", 1, tags: %w[red round])
      store.write("b", 2, tags: :red)
      store.write("c", 3)
      assert_equal [1, 2, 3], %w[a b c].map { |key| store.read(key) }
      assert_same true, store.delete_tagged("round")
      assert_equal [nil, 2, 3], %w[a b c].map { |key| store.read(key) }
      assert_not store.exist?("a")
      store.write("a", 4, tags: ["round"])
      assert_equal 4, store.read("a")
      store.delete_tagged(:red, ["round"])
      assert_equal({ "c" => 3 }, store.read_multi("a", "b", "c"))
    end

    on_both_paths "values of every kind and length have tags" do
      [1, nil, "text", "long " * 40_000, { "a" => [1] }, Point.new(2), "ä" * 3000].each do |value|
        2.times { assert_equal([value], [store.fetch("key", tags: "t") { value }]) }
        store.delete_tagged("t")
        assert_equal("new", store.fetch("key", tags: "t") { "new" })
        store.delete_tagged("t")
        assert_nil store.read("key")
      end
    end

    on_both_paths "a tag that is deleted while its value is computed deletes that" do
      [{}, { single_flight: true }, { stale_if_error: 60 }, { expires_in: 9, race_condition_ttl: 9 }].each do |options|
        assert_equal("old", store.fetch("key", tags: "t", **options) do
          store.delete_tagged("t")
          "old"
        end)
        assert_nil store.read("key")
        assert_equal("new", store.fetch("key", tags: "t", **options) { "new" })
        assert_equal "new", store.read("key")
        store.delete("key")
      end
    end

    on_both_paths "so it is with fetch_multi, and what a block writes" do
      [{}, { single_flight: true }].each do |options|
        found = store.fetch_multi("a", "b", tags: "t", **options) do |name|
          store.write("inner #{name}", name, tags: "t")
          store.delete_tagged("t") if name == "b"
          name
        end
        assert_equal({ "a" => "a", "b" => "b" }, found)
        assert_nil store.read("b")
        assert_nil store.read("inner b")
        store.fetch_multi("a", "b", tags: "t", **options) { |name| name * 2 }
        assert_equal({ "a" => "aa", "b" => "bb" }, store.read_multi("a", "b"))
        store.delete_tagged("t")
        assert_equal({}, store.read_multi("a", "b", "inner a"))
      end
    end

    on_both_paths "and with tags of the store" do
      tagged = new_store(tags: "t")
      [{}, { expires_in: 60 }, { single_flight: true }].each do |options|
        assert_equal({ "a" => 1 }, tagged.fetch_multi("a", **options) { tagged.delete_tagged("t") && 1 })
        assert_nil tagged.read("a"), options
        assert_equal({ "a" => 2 }, tagged.fetch_multi("a", **options) { 2 })
        assert_equal 2, tagged.read("a"), options
        tagged.delete("a")
      end
    end

    on_both_paths "a read and the write that follows, as of a view, are one" do
      assert_nil store.read("fragment", tags: "t")
      store.delete_tagged("t")
      store.write("fragment", "old", tags: "t")
      assert_nil store.read("fragment", tags: "t")
      store.write("fragment", "new", tags: "t")
      assert_equal "new", store.read("fragment", tags: "t")
      assert_nil store.read("other", tags: "t")
      store.delete_tagged("t")
      Larder::Store::Flights.end_work
      store.write("other", "later", tags: "t")
      assert_equal "later", store.read("other")
    end

    on_both_paths "so are those with tags of the store" do
      tagged = new_store(tags: "t")
      [[], [{ expires_in: 60 }]].each do |options|
        assert_nil tagged.read("fragment", *options)
        tagged.delete_tagged("t")
        tagged.write("fragment", "old", *options)
        assert_nil tagged.read("fragment", *options)
        tagged.write("fragment", "new", *options)
        assert_equal "new", tagged.read("fragment", *options)
        tagged.delete("fragment")
      end
    end

    on_both_paths "a write of many has tags, as has one that must not overwrite" do
      store.write_multi({ "a" => 1, "b" => 2 }, tags: ["t"])
      assert store.write("c", 3, unless_exist: true, tags: ["t"])
      assert_not store.write("c", 4, unless_exist: true, tags: ["t"])
      store.write("d", 1, expires_in: 5, race_condition_ttl: 5)
      travel 6.seconds do
        assert store.write("d", 2, unless_exist: true, tags: ["t"])
        assert_equal({ "a" => 1, "b" => 2, "c" => 3, "d" => 2 }, store.read_multi("a", "b", "c", "d"))
        store.delete_tagged("t")
        assert_equal({}, store.read_multi("a", "b", "c", "d"))
      end
    end

    on_both_paths "an entry that is kept for race_condition_ttl keeps its tags" do
      options = { expires_in: 10, race_condition_ttl: 30 }
      one = new_store(namespace: "one")
      [[store, -> { store.delete_tagged("t") }, { tags: "t" }],
       [one, -> { one.clear }, {}]].each do |cache, delete, more|
        cache.write("key", "old", **options, **more)
        travel 11.seconds do
          cache.fetch("key", **options) do
            assert_equal "old", cache.read("key")
            delete.call
            assert_nil cache.read("key")
            "new"
          end
          assert_equal "new", cache.read("key")
        end
      end
    end

    on_both_paths "what was written while an old entry is kept stays" do
      store.write("key", "old", expires_in: 10, race_condition_ttl: 30, tags: "t")
      travel 11.seconds do
        entry = store.send(:read_entry, "key", race_condition_ttl: 30)
        store.write("key", "newer")
        store.send(:expired, entry, Larder::Store::Call.new("key", "key", { race_condition_ttl: 30 }))
        assert_equal "newer", store.read("key")
      end
    end

    on_both_paths "a stale value goes with its tag, and its refresh has tags" do
      options = { expires_in: 10, stale_while_revalidate: 60, tags: "t" }
      store.fetch("key", **options) { "old" }
      travel 11.seconds do
        assert_equal("old", store.fetch("key", **options) { "new" })
        assert Larder::Store::Refreshes.await(LONGEST)
        assert_equal "new", store.read("key")
        store.delete_tagged("t")
        assert_nil store.read("key")
      end
      store.fetch("key", **options) { "old" }
      travel 11.seconds do
        store.delete_tagged("t")
        assert_equal("computed", store.fetch("key", **options) { "computed" })
      end
    end

    on_both_paths "a number that is counted keeps its tags" do
      store.write("n", 5, raw: true, tags: "t")
      assert_equal 6, store.increment("n")
      assert_equal 7, store.increment("n")
      store.delete_tagged("t")
      assert_equal 1, store.increment("n")
    end

    on_both_paths "so does one that is counted with other tags, or in a namespace" do
      named = new_store(namespace: "n")
      [[store, { tags: "b" }], [named, {}], [named, { tags: "b" }]].each do |cache, more|
        cache.write("n", 5, tags: "a")
        assert_equal 6, cache.increment("n", 1, **more)
        cache.delete_tagged("a")
        assert_nil cache.read("n")
        assert_equal 1, cache.increment("n", 1, **more)
        cache.delete("n")
      end
      store.write("n:outside", 5)
      assert_equal 6, named.increment("outside")
      named.clear
      assert_equal 6, store.read("n:outside")
    end

    on_both_paths "an entry that is kept for race_condition_ttl keeps its tags, whatever those of the caller are" do
      options = { expires_in: 10, race_condition_ttl: 30 }
      named = new_store(namespace: "n")
      [[store, { tags: "other" }], [named, {}], [named, { tags: "other" }]].each do |cache, more|
        cache.write("key", "old", tags: "t", **options)
        travel 11.seconds do
          cache.fetch("key", **options, **more) do
            assert_equal "old", cache.read("key")
            cache.delete_tagged("t")
            assert_nil cache.read("key")
          end
        end
        cache.delete("key")
      end
    end

    on_both_paths "a view that also serves stale fragments does not keep one of before a deletion" do
      options = { tags: "t", expires_in: 10, stale_while_revalidate: 60 }
      2.times do
        assert_nil store.read("fragment", options)
        store.delete_tagged("t")
        store.write("fragment", "old", options)
        assert_nil store.read("fragment")
        store.write("fragment", "older", expires_in: 10, stale_while_revalidate: 60)
        travel 11.seconds
      end
    end

    on_both_paths "too many tags are refused before the value is computed, and leave no lease" do
      [{}, { single_flight: true }, { stale_while_revalidate: 9 }].each do |options|
        error = assert_raises(ArgumentError) { store.fetch("key", tags: (1..129).to_a, **options) { flunk } }
        assert_match "up to 128 tags", error.message
        assert_raises(ArgumentError) { store.fetch("key", tags: [nil], **options) { flunk } }
        assert_raises(ArgumentError) { store.fetch_multi("key", tags: (1..129).to_a, **options) { 1 } }
        assert_equal(2, Timeout.timeout(20) { store.fetch("key", tags: "t", wait: 30, **options) { 2 } })
        store.delete("key")
      end
      assert_raises(ArgumentError) { new_store(namespace: "n").write("key", 1, tags: (1..128).to_a) }
    end

    on_both_paths "a piece of work within another one, or in another fiber, forgets nothing of it" do
      stamps = Larder::Store::Flights
      stamps.begin_work
      assert_nil store.read("fragment", tags: "t")
      stamps.begin_work
      stamps.end_work
      Fiber.new { stamps.begin_work && stamps.end_work }.resume
      20_000.times { |i| store.read("another #{i}", tags: "t") } if Larder::Store::FastPath.report(store)[:on]
      store.delete_tagged("t")
      store.write("fragment", "old", tags: "t")
      assert_nil store.read("fragment")
    end

    on_both_paths "a piece of work forgets no read that came before it" do
      assert_nil store.read("fragment", tags: "t")
      Larder::Store::Flights.begin_work
      Larder::Store::Flights.end_work
      store.delete_tagged("t")
      store.write("fragment", "old", tags: "t")
      assert_nil store.read("fragment")
    end

    on_both_paths "a write without tags, in a namespace, has not begun at a read with tags" do
      named = new_store(namespace: "n")
      assert_nil named.read("key", tags: "t")
      named.clear
      named.write("key", 1)
      assert_equal 1, named.read("key")
    end

    on_both_paths "a fiber that is left in a block concerns no other" do
      left = Fiber.new { store.fetch("left", tags: "t") { Fiber.yield } }
      left.resume
      store.delete_tagged("t")
      store.write("key", 1, tags: "t")
      assert_equal 1, store.read("key")
      assert_equal({ "a" => 1 }, store.fetch_multi("a", tags: "t") { 1 })
      assert_equal({ "a" => 1 }, store.fetch_multi("a", tags: "t") { 2 })
    end

    test "a value that began without a file is not stored" do
      path = path_of("later/test.larder")
      File.write(path_of("later"), "")
      late = ActiveSupport::Cache.lookup_store(:larder_store, path, { size: SIZE })
      reports_of do
        assert_equal("old", late.fetch("key", tags: "t") do
          File.delete(path_of("later"))
          eventually { late.write("other", 1) }
          late.delete_tagged("t")
          "old"
        end)
      end
      assert_equal 1, late.read("other")
      assert_nil late.read("key")
      assert_equal("new", late.fetch("key", tags: "t") { "new" })
      assert_equal "new", late.read("key")
    end

    test "a decorator has the tag of its record, and a text of any encoding is one" do
      tool = Tool.create!
      store.write("page", 1, tags: SimpleDelegator.new(tool))
      store.delete_tagged(tool)
      assert_nil store.read("page")
      store.write("page", 1, tags: "t".encode("UTF-16LE"))
      store.delete_tagged("t".encode("UTF-16LE"))
      assert_nil store.read("page")
      assert_match "has no id", assert_raises(ArgumentError) { store.delete_tagged(Tool.select(:type).first) }.message
    end

    on_both_paths "a clear while a value with tags is computed wins over it" do
      reports = reports_of do
        assert_equal("old", store.fetch("key", tags: "t") { store.clear && "old" })
      end
      assert_empty reports
      assert_nil store.read("key")
      assert_equal("new", store.fetch("key", tags: "t") { "new" })
      assert_equal "new", store.read("key")
    end

    on_both_paths "a clear of a namespace deletes what is in it, and nothing else" do
      one = new_store(namespace: "one")
      [one, store].each do |cache|
        cache.write("a", 1)
        cache.write("object", Point.new(1))
        cache.write("long", "l" * 300_000)
        cache.write_multi({ "b" => 2, "c" => 3 })
        cache.fetch("d") { 4 }
        cache.fetch_multi("e") { 5 }
        cache.increment("n")
        cache.increment("n")
        cache.write("f", 6, unless_exist: true)
        cache.fetch("g", expires_in: 9, stale_while_revalidate: 9) { 7 }
      end
      keys = %w[a object long b c d e n f g]
      assert_equal keys, one.read_multi(*keys).keys
      assert_same true, one.clear
      assert_equal({}, one.read_multi(*keys))
      assert_equal keys, store.read_multi(*keys).keys
      one.write("a", 2)
      assert_equal [2, 1], [one.read("a"), one.increment("n")]
      store.clear(namespace: -> { "one" })
      assert_equal [nil, 1], [one.read("a"), store.read("a")]
      assert_equal 2, store.read("n").to_i
    end

    on_both_paths "a clear of a namespace wins over a value under a lease and over a refresh" do
      one = new_store(namespace: "one", single_flight: true)
      assert_equal("old", one.fetch("key") { one.clear && "old" })
      assert_nil one.read("key")
      one.fetch("key", expires_in: 5, stale_while_revalidate: 60) { "old" }
      travel 6.seconds do
        begun, gate = Queue.new, Queue.new
        one.fetch("key", expires_in: 5, stale_while_revalidate: 60) { (begun << 1) && gate.pop }
        begun.pop
        one.clear
        gate << "new"
        assert Larder::Store::Refreshes.await(LONGEST)
        assert_nil one.read("key")
      end
    end

    test "keys lists names, those of a namespace without it" do
      one = new_store(namespace: "one")
      one.write_multi({ "products/1" => 1, "products/2" => 2, "ä" => 3 })
      store.write("products/3", 3, tags: "t")
      store.write("gone", 3, tags: "t")
      store.write("expired", 3, expires_in: 5)
      travel 6.seconds do
        assert_equal ["products/1", "products/2"], one.keys(prefix: "products/").sort
        assert_equal ["products/1", "products/2", "ä"], one.keys.sort
        assert_equal ["products/3"], store.keys(prefix: "products/", namespace: nil)
        assert_equal ["products/1"], store.keys(prefix: "products/1", namespace: "one")
        store.delete_tagged("t")
        assert_equal [], store.keys(prefix: "products/")
      end
    end

    test "a deletion has an event of its own" do
      store.write("key", 1, tags: "t")
      events = events_of { store.delete_tagged("t", [:u]) }
      assert_equal ["cache_delete_tagged.active_support"], events.map(&:name)
      assert_equal %w[t u], events.first.payload[:key]
      assert_match(/delete_tagged/, log_of { store.delete_tagged("t") })
    end

    test "records and their classes are tags, by id and not by version" do
      tool = Tool.create!
      [tool, [tool], Tool, "tools/#{tool.id}"].each do |deleted|
        store.write("page", 1, tags: [tool, Tool])
        tool.touch
        assert_equal 1, store.read("page")
        store.delete_tagged(deleted)
        assert_nil store.read("page"), deleted.inspect
      end
      store.write("page", 1, tags: Hammer.create!(id: 7))
      store.delete_tagged(Tool.find(7).becomes(Tool))
      assert_nil store.read("page")
      error = assert_raises(ArgumentError) { store.write("page", 1, tags: Tool.new) }
      assert_match "save it", error.message
    end

    test "an object that cannot be a tag is named" do
      [Object.new, [1.5], [nil], { a: 1 }].each do |wrong|
        message = "; tags are Strings, Symbols, Integers, records and their classes"
        assert_match(message, assert_raises(ArgumentError) { store.write("k", 1, tags: wrong) }.message)
        assert_match(message, assert_raises(ArgumentError) { store.delete_tagged(wrong) }.message)
      end
      assert_match "up to 128 tags, including its namespace; these are 129", assert_raises(ArgumentError) {
        store.write("k", 1, tags: (1..129).to_a)
      }.message
      assert store.write("k", 1, tags: (1..128).to_a)
      assert store.delete_tagged(*(1..500))
      assert_nil store.read("k")
    end

    test "without tags nothing is deleted" do
      store.write("key", 1, tags: [])
      store.write("nil", 1, tags: nil)
      assert store.delete_tagged
      assert store.delete_tagged([])
      assert_equal({ "key" => 1, "nil" => 1 }, store.read_multi("key", "nil"))
    end

    test "another store is cleared, as it knows no tags" do
      memory = ActiveSupport::Cache::MemoryStore.new
      memory.write("key", 1, tags: "t")
      Larder.delete_tagged(cache: memory)
      assert_equal 1, memory.read("key")
      Larder.delete_tagged("t", cache: memory)
      assert_nil memory.read("key")
      Larder.delete_tagged("t", cache: ActiveSupport::Cache::NullStore.new)
      assert_match "is no cache store", assert_raises(ArgumentError) { Larder.delete_tagged("t", cache: nil) }.message
      store.write_multi({ "a" => 1, "b" => 2 }, tags: "t")
      store.write("c", 3)
      Larder.delete_tagged("t", cache: store)
      assert_equal({ "c" => 3 }, store.read_multi("a", "b", "c"))
    end

    test "a deletion that cannot be applied is reported, and applied when the file can be opened" do
      store.write("key", 1, tags: "t")
      store.cache.close
      away = path_of("away")
      File.rename(path_of("test.larder"), away)
      Dir.mkdir(path_of("test.larder"))
      late = ActiveSupport::Cache.lookup_store(:larder_store, path_of("test.larder"), { size: SIZE })
      assert_equal 1, (reports_of { assert_nil late.delete_tagged("t") }).size
      Dir.rmdir(path_of("test.larder"))
      File.rename(away, path_of("test.larder"))
      eventually { late.write("other", 1) }
      assert_equal 1, late.read("other")
      assert_nil late.read("key")
    end

    test "processes see the deletions of each other" do
      store.write("key", "old", tags: "t")
      child = fork do
        fresh = new_store
        exit!(1) unless fresh.read("key") == "old"
        fresh.delete_tagged("t")
        exit!(0)
      end
      assert_predicate Process.wait2(child).last, :success?
      assert_nil store.read("key")
    end
  end
end
