# frozen_string_literal: true

# When the fast path stands aside for who patches or overrides. Whatever changes a class for good happens in a child.

require "support/store_case"
require "support/fast_path_calls"
require "active_support/deprecation"
require "active_support/cache/strategy/local_cache"

module LarderStoreTests
  class FastPathGuardTest < StoreCase
    include FastPathCalls

    Store = ActiveSupport::Cache::Store
    LarderStore = ActiveSupport::Cache::LarderStore
    FastPath = Larder::Store::FastPath

    # What is taken in a child where the block has patched something, which it gets a place to report to.
    def taken_where
      in_child do
        seen = []
        yield(seen)
        [taken, (EVERY + [:read_entry]) & seen]
      end
    end

    def patch_of(*names, seen)
      Module.new do
        names.each do |name|
          define_method(name) do |*arguments, **keywords, &block|
            seen << name
            super(*arguments, **keywords, &block)
          end
        end
      end
    end

    # Everything was checked just before the test.
    setup do
      store.read("a")
      FastPath.check
    end

    # ---- unpatched ----

    test "every method is taken where nobody patches and listens" do
      assert_equal EVERY, taken
      assert FastPath.enabled?(LarderStore)
    end

    test "without turns it off for the block and all that is in it" do
      FastPath.without do
        assert_empty taken
        FastPath.without { assert_empty taken }
        assert_empty taken
      end
      assert_equal EVERY, taken
      assert_raises(RuntimeError) { FastPath.without { raise "out" } }
      assert_equal EVERY, taken
    end

    test "subclasses that override nothing take it from the next check on, and survive being collected" do
      4.times do
        below = Class.new(Class.new(LarderStore))
        FastPath.check
        assert_equal EVERY, taken(below.new(path_of, size: SIZE))
      end
      GC.start
      assert_equal EVERY, taken
    end

    test "more subclasses than there is room for are right on the ordinary path" do
      others, own = in_child do
        stores = Array.new(40) { Class.new(LarderStore).new(path_of, size: SIZE) }
        FastPath.check
        [stores.map { |other| other.fetch("a") { 1 } }.uniq, taken]
      end
      assert_equal [[1], EVERY], [others, own]
    end

    # ---- patches ----

    test "prepending to Rails' or our class turns it off at once, and the patch is called" do
      [Store, LarderStore].each do |target|
        assert_equal [[], EVERY], taken_where { |seen| target.prepend(patch_of(*EVERY, seen)) }, target
        assert_equal [[], EVERY], taken_where { |seen| target.send(:prepend, patch_of(*EVERY, seen)) }, target
      end
    end

    test "one patched method is enough" do
      assert_equal [[], [:read]], taken_where { |seen| Store.prepend(patch_of(:read, seen)) }
    end

    test "a patch that is filled after it was prepended is called" do
      EVERY.each do |name|
        seen = in_child do
          calls = []
          late = Module.new
          LarderStore.prepend(late)
          late.define_method(name) do |*arguments, &block|
            calls << name
            super(*arguments, &block)
          end
          CALLS.fetch(name).call(store)
          calls
        end
        assert_equal [name], seen
      end
    end

    test "stubs that are filled after they were prepended turn it off" do
      assert_nil(in_child do
        late = Module.new
        LarderStore.prepend(late)
        late.define_method(:read_entry) { |*, **| nil }
        store.write("a", 1)
        store.read("a")
      end)
    end

    test "redefining a method of Rails' class turns it off" do
      assert_equal [], in_child { redefine(Store, :read) && taken }
      assert_equal [], in_child { redefine(Store, :read_entry) && taken }
    end

    def redefine(target, name)
      target.class_eval { define_method(name) { |*| nil } }
    end

    test "an alias chain turns it off, and is called" do
      taken, seen = taken_where do |calls|
        Store.class_eval do
          alias_method :read_without_trace, :read
          define_method(:read) do |*arguments|
            calls << :read
            read_without_trace(*arguments)
          end
        end
      end
      assert_equal [[], [:read]], [taken, seen]
    end

    test "an alias chain in our class turns it off, and is called" do
      taken, seen = taken_where do |calls|
        LarderStore.class_eval do
          alias_method :fetch_without_trace, :fetch
          define_method(:fetch) do |*arguments, &block|
            calls << :fetch
            fetch_without_trace(*arguments, &block)
          end
        end
      end
      assert_equal [[], [:fetch]], [taken, seen]
    end

    test "a module that is included and overrides an inner method is found by the next check, and called" do
      assert_equal [[], [:read_entry]], taken_where { |seen|
        LarderStore.include(patch_of(:read_entry, seen))
        FastPath.check
      }
    end

    test "stubs of all objects of a class are called at once, and forgotten with the module that they leave empty" do
      answers = in_child do
        store.write("a", 1)
        stubs = Module.new
        LarderStore.prepend(stubs)
        stubs.define_method(:read) { |*| "stub" }
        stubbed = store.read("a")
        stubs.remove_method(:read)
        FastPath.check
        [stubbed, store.read("a"), taken]
      end
      assert_equal ["stub", 1, EVERY], answers
    end

    test "alias chains of a class are called at once, as stubs of all its objects" do
      assert_equal "stub", (in_child do
        store.write("a", 1)
        LarderStore.class_eval do
          alias_method :__read_without_any_instance__, :read
          define_method(:read) { |*| "stub" }
        end
        store.read("a")
      end)
    end

    test "a subclass that overrides is on the ordinary path, its parent is not" do
      patches = %i[fetch read_entry write_entry normalize_key instrument _instrument logger merged_options]
      patches.each do |name|
        below, parent = in_child do
          overriding = Class.new(LarderStore) do
            define_method(name) { |*given, **named, &block| super(*given, **named, &block) }
          end
          [taken(overriding.new(path_of, size: SIZE)), taken]
        end
        assert_equal [[], EVERY], [below, parent], name
      end
    end

    test "what is added to one store concerns that store alone" do
      other = new_store
      seen = []
      other.singleton_class.prepend(patch_of(*EVERY, seen))
      assert_empty taken(other)
      assert_equal EVERY, EVERY & seen
      third = new_store
      def third.read(*) = "singleton"
      assert_equal "singleton", third.read("a")
      assert_equal [:read], taken(third) # where ActiveSupport's is out of reach
      assert_equal EVERY, taken(new_store.freeze)
      assert_equal EVERY, taken
    end

    class WithLocalCache < LarderStore
      prepend ActiveSupport::Cache::Strategy::LocalCache
    end

    test "methods that a script gives all objects turn nothing off" do
      taken_there = in_child do
        Object.class_eval do
          private

          def now = raise
          def fetch(*) = raise
          def options = raise
          def initialize_options = raise
        end
        Kernel.module_eval { def logger = raise }
        Larder::Store::FastPath.check
        store.read("a") # attaches
        taken
      end
      assert_equal EVERY, taken_there
    end

    test "Rails' own modules are patches too: LocalCache" do
      values = in_child do
        cached = WithLocalCache.new(path_of, size: SIZE)
        cached.with_local_cache { [taken(cached), taken] }
      end
      assert_equal [[], EVERY], values
    end

    test "Rails' deprecations are patches too" do
      told = in_child do
        deprecator = ActiveSupport::Deprecation.new("2", "test")
        deprecator.behavior = ->(message, *) { told_of << message }
        deprecator.deprecate_methods(LarderStore, read: :fetch)
        store.read("a")
        [told_of.size, taken]
      end
      assert_equal [1, []], told
    end

    def told_of
      @told_of ||= []
    end

    test "patches from before it was loaded are seen" do
      output = run_ruby(<<~RUBY, path_of("early.larder"))
        require "active_support"
        require "active_support/cache"
        ActiveSupport::Cache::Store.prepend(Module.new { def read(*) = "patched" })
        require "active_support/cache/larder_store"
        ActiveSupport::Cache.format_version = 7.1
        store = ActiveSupport::Cache::LarderStore.new(ARGV[0], size: 8 << 20)
        store.write("a", 1)
        print store.read("a"), Larder::Store::FastPath.enabled?(store.class)
      RUBY
      assert_equal "patchedfalse", output
    end

    AROUND = [
      -> { ActiveSupport::Cache::Entry.class_eval { def expired?(*) = false } },
      -> { ActiveSupport::Cache::Entry.prepend(Module.new { def value = super.itself }) },
      -> { ActiveSupport::Cache::WriteOptions.class_eval { def version = nil } },
      -> { ActiveSupport::Notifications.singleton_class.class_eval { def instrument(*) = nil } },
      -> { ActiveSupport::Notifications.singleton_class.prepend(Module.new { def instrument(...) = super.itself }) }
    ].freeze

    test "a patched Entry, WriteOptions or Notifications.instrument turns it off with the next check" do
      AROUND.each do |patch|
        assert_empty(in_child { patch.call && FastPath.check && taken })
      end
    end

    test "a Rails that nobody compared both paths on is on the ordinary one" do
      ["7.0.8", "8.2.0.alpha", "9.0.0"].each do |version|
        assert_empty(in_child do
          claim = Module.new { define_method(:gem_version) { Gem::Version.new(version) } }
          ActiveSupport.singleton_class.prepend(claim)
          FastPath.check
          taken
        end)
      end
    end

    test "what no watcher sees is seen when Rails has initialized" do
      assert_empty(in_child do
        String.class_eval { def cache_version = "1" }
        ActiveSupport.run_load_hooks(:after_initialize, Object.new)
        taken
      end)
    end
  end
end
