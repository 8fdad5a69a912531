# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # Values that cannot be read back, wrong patterns and removed directories, as docs/reference/differences.md has them.
  class ChangedClassesTest < StoreCase
    STRUCT = -> { Struct.new(:a, :b) }
    CHANGED = {
      "a member more" => [STRUCT, -> { Struct.new(:a, :b, :c) }], "a member less" => [STRUCT, -> { Struct.new(:a) }],
      "members in another order" => [STRUCT, -> { Struct.new(:b, :a) }],
      "a member renamed" => [STRUCT, -> { Struct.new(:a, :z) }],
      "no Struct any more" => [STRUCT, -> { Class.new { attr_accessor :a, :b } }],
      "no class any more" => [-> { Class.new { attr_accessor :a } }, -> { 5 }],
      "marshal_load gone" => [-> { Class.new { def marshal_dump = 1 } }, -> { Class.new }],
      "_load gone" => [-> { Class.new { def _dump(_) = "1" } }, -> { Class.new }]
    }.freeze
    # A FileStore makes a miss of these, too.
    GONE = [STRUCT, -> { Class.new }, -> { Class.new(Hash) }].freeze

    def define(type)
      self.class.send(:remove_const, :Changing) if self.class.const_defined?(:Changing)
      self.class.const_set(:Changing, type.call) if type
    end

    teardown { define(nil) }

    def value
      type = self.class.const_get(:Changing)
      type < Struct ? type.new(1, 2) : type.new
    end

    def written(cache)
      cache.write_multi({ "alone" => value, "list" => [value, "text"], "hash" => { at: value } })
      cache
    end

    # Rails' stores, whose files and memory a deploy survives.
    def rails_stores
      [ActiveSupport::Cache::FileStore.new(path_of("files")), ActiveSupport::Cache::MemoryStore.new]
    end

    CHANGED.each do |name, (before, after)|
      on_both_paths "a value that can no longer be read is a miss, where Rails' stores raise: #{name}" do
        define(before)
        store
        caches = [store, *rails_stores].each { |cache| written(cache) }
        define(after)
        reports_of do
          %w[alone list hash].each do |key|
            assert_nil store.read(key), key
            assert_equal({}, store.read_multi(key))
            assert_same false, store.exist?(key)
            assert_equal(:new, store.fetch(key) { :new })
            caches.drop(1).each { |cache| assert_raises(TypeError) { cache.read(key) } }
          end
        end
      end
    end

    on_both_paths "a class that is gone is a miss, as in a FileStore, and one that is the same again is read" do
      GONE.each do |type|
        define(type)
        caches = [store, rails_stores.first].each { |cache| written(cache) }
        define(nil)
        reports_of { caches.each { |cache| assert_nil cache.read("alone"), cache.class } }
        define(type)
        caches.each { |cache| assert_instance_of self.class.const_get(:Changing), cache.read("alone") }
      end
    end

    test "the miss is reported once a minute for each reason" do
      Larder::Reports.reset
      define(CHANGED["marshal_load gone"].first)
      written(store)
      define(CHANGED["marshal_load gone"].last)
      reports = reports_of { 3.times { store.read("alone") } }
      assert_equal 1, reports.size
    ensure
      Larder::Reports.reset
    end

    def nested(levels)
      levels.times.reduce([]) { |inner, _| [inner] }
    end

    test "an Array that is too deep to be written raises, as in Rails' stores, and the old value stays" do
      store.write("deep", 1)
      assert_raises(SystemStackError) { store.write("deep", nested(1_000_000)) }
      assert_equal 1, store.read("deep")
    end

    # A fiber has a smaller stack than the thread that wrote the value.
    test "one that is too deep for the stack of its reader is a miss, where Rails' stores raise" do
      levels = 9000
      caches = [store, *rails_stores].each { |cache| cache.write("deep", nested(levels)) }
      found = caches.map do |cache|
        Fiber.new do
          cache.read("deep")
        rescue SystemStackError
          :raised
        end.resume
      end
      assert_equal [nil, :raised, :raised], found
      assert_instance_of Array, store.read("deep")
    end

    test "delete_matched refuses what is neither a Regexp nor a String, and deletes nothing" do
      caches = [store, *rails_stores].each { |cache| cache.write("a", 1) }
      [nil, :a, 5, []].each do |wrong|
        error = assert_raises(ArgumentError) { store.delete_matched(wrong) }
        assert_includes error.message, "takes a Regexp or a glob String, not #{wrong.inspect}"
        caches.drop(1).each { |cache| assert_raises(TypeError) { cache.delete_matched(wrong) } }
      end
      assert_equal [1] * 3, caches.map { |cache| cache.read("a") }
    end

    test "a directory that is removed is made again, in each process that uses it, with an empty cache" do
      path = path_of("removed/cache.larder")
      cache = ActiveSupport::Cache.lookup_store(:larder_store, path, size: SIZE)
      cache.write("old", 1)
      FileUtils.rm_rf(File.dirname(path))
      # It is noticed within 0.2 seconds of writing.
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
      cache.write("new", 2) until File.exist?(path) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      assert_equal [nil, 2], [cache.read("old"), cache.write("new", 2) && cache.read("new")]
      assert_equal(2, in_child { ActiveSupport::Cache.lookup_store(:larder_store, path, size: SIZE).read("new") })
    end
  end
end
