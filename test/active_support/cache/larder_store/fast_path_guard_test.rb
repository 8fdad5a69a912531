# frozen_string_literal: true

# When the fast path stands aside: for who patches, overrides, listens, or stubs the clock. Whatever changes a class for
# good happens in a child.

require "support/store_case"
require "active_support/deprecation"
require "active_support/cache/strategy/local_cache"

module LarderStoreTests
  class FastPathGuardTest < StoreCase
    Store = ActiveSupport::Cache::Store
    LarderStore = ActiveSupport::Cache::LarderStore
    FastPath = Larder::Store::FastPath

    # One simple call of each method that there is in C.
    CALLS = {
      fetch: ->(store) { store.fetch("a") { 1 } }, read: ->(store) { store.read("a") },
      write: ->(store) { store.write("a", 1) }, delete: ->(store) { store.delete("a") },
      exist?: ->(store) { store.exist?("a") }, read_multi: ->(store) { store.read_multi("a", "b") },
      write_multi: ->(store) { store.write_multi({ "a" => 1 }) },
      fetch_multi: ->(store) { store.fetch_multi("a", "b") { 1 } }
    }.freeze
    EVERY = CALLS.keys.freeze

    # @return [Array<Symbol>] the methods that never entered ActiveSupport's
    def taken(store = self.store)
      CALLS.keys.reject { |name| enters_rails?(name) { CALLS.fetch(name).call(store) } }
    end

    def enters_rails?(name)
      entered = false
      trace = TracePoint.new(:call) { entered = true }
      trace.enable(target: Store.instance_method(name))
      yield
      entered
    ensure
      trace.disable
    end

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

    setup { store }

    # ---- unpatched ----

    test "every method is taken where nobody patches and listens" do
      assert_equal EVERY, taken
      assert FastPath.armed?(LarderStore)
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

    test "subclasses that override nothing take it, and survive being collected" do
      4.times do
        below = Class.new(Class.new(LarderStore))
        assert_equal EVERY, taken(below.new(path_of, size: SIZE))
      end
      GC.start
      assert_equal EVERY, taken
    end

    test "more subclasses than there is room for are right on the ordinary path" do
      others, own = in_child do
        stores = Array.new(40) { Class.new(LarderStore).new(path_of, size: SIZE) }
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

    test "including what overrides an inner method turns it off, and is called" do
      assert_equal [[], [:read_entry]], taken_where { |seen| LarderStore.include(patch_of(:read_entry, seen)) }
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
        store = ActiveSupport::Cache::LarderStore.new(ARGV[0], size: 8 << 20)
        store.write("a", 1)
        print store.read("a"), Larder::Store::FastPath.armed?(store.class)
      RUBY
      assert_equal "patchedfalse", output
    end

    test "a patched Entry, WriteOptions or Notifications.instrument turns it off" do
      assert_empty(in_child { redefine(ActiveSupport::Cache::Entry, :expired?) && taken })
      assert_empty(in_child { ActiveSupport::Cache::Entry.prepend(Module.new { def value = super.itself }) && taken })
      assert_empty(in_child { redefine(ActiveSupport::Cache::WriteOptions, :version) && taken })
      assert_empty(in_child { redefine(ActiveSupport::Notifications.singleton_class, :instrument) && taken })
      assert_empty(in_child do
        ActiveSupport::Notifications.singleton_class.prepend(Module.new { def instrument(...) = super.itself }) && taken
      end)
    end

    test "what no watcher sees is seen when Rails has initialized" do
      assert_empty(in_child do
        String.class_eval { def cache_version = "1" }
        ActiveSupport.run_load_hooks(:after_initialize, Object.new)
        taken
      end)
    end

    # ---- listeners ----

    SUBSCRIPTIONS = {
      "a name" => -> { ActiveSupport::Notifications.subscribe("cache_write.active_support") { nil } },
      "a Regexp" => -> { ActiveSupport::Notifications.subscribe(/cache_write/) { nil } },
      "everything" => -> { ActiveSupport::Notifications.subscribe(nil) { nil } },
      "a monotonic clock" => lambda do
        ActiveSupport::Notifications.monotonic_subscribe("cache_write.active_support") { nil }
      end,
      "an event object" => lambda do
        ActiveSupport::Notifications.subscribe("cache_write.active_support", ->(event) { event })
      end,
      "the notifier" => -> { ActiveSupport::Notifications.notifier.subscribe("cache_write.active_support") { nil } }
    }.freeze

    test "a subscriber gets its events from the moment it subscribes, until it unsubscribes" do
      SUBSCRIPTIONS.each do |kind, subscribe|
        subscriber = subscribe.call
        assert_not_includes taken, :write, kind
        ActiveSupport::Notifications.unsubscribe(subscriber)
        assert_equal EVERY, taken, kind
      end
    end

    test "unsubscribing by name is seen" do
      seen = []
      ActiveSupport::Notifications.subscribe("cache_write.active_support") { seen << 1 }
      store.write("a", 1)
      ActiveSupport::Notifications.unsubscribe("cache_write.active_support")
      store.write("a", 1)
      assert_equal [[1], EVERY], [seen, taken]
    end

    test "a name taken out of a Regexp's is not heard of, the others are" do
      seen = []
      subscriber = ActiveSupport::Notifications.subscribe(/cache_(?:read|write)\./) { |name, *| seen << name }
      ActiveSupport::Notifications.unsubscribe("cache_write.active_support")
      store.write("a", 1)
      store.read("a")
      assert_equal ["cache_read.active_support"], seen
    ensure
      ActiveSupport::Notifications.unsubscribe(subscriber)
    end

    test "subscribed hears during its block, also where that raises" do
      events = events_of { store.fetch("a") { 1 } }
      assert_equal %w[read generate write], (events.map { |event| event.name[/cache_(\w+)/, 1] })
      assert_raises(RuntimeError) { events_of { raise "out" } }
      assert_equal EVERY, taken
    end

    test "a replaced notifier is asked" do
      before = ActiveSupport::Notifications.notifier
      seen = []
      ActiveSupport::Notifications.notifier = ActiveSupport::Notifications::Fanout.new
      assert_equal EVERY, taken
      ActiveSupport::Notifications.subscribe("cache_read.active_support") { seen << 1 }
      store.read("a")
      assert_equal [1], seen
      ActiveSupport::Notifications.notifier = before
      assert_equal EVERY, taken
    ensure
      ActiveSupport::Notifications.notifier = before
    end

    test "a notifier of another class is always told" do
      before = ActiveSupport::Notifications.notifier
      ActiveSupport::Notifications.notifier = Class.new(ActiveSupport::Notifications::Fanout).new
      assert_empty taken - %i[read] # a read under events is in C within Rails' event
    ensure
      ActiveSupport::Notifications.notifier = before
    end

    test "subscribing from another thread in the middle of a fetch is heard by its write" do
      seen = []
      subscriber = nil
      store.fetch("a") do
        Thread.new { subscriber = ActiveSupport::Notifications.subscribe(/cache_/) { |name, *| seen << name } }.join
        1
      end
      assert_equal ["cache_write.active_support"], seen
    ensure
      ActiveSupport::Notifications.unsubscribe(subscriber)
    end

    # ---- time ----

    LATER = Time.utc(2035, 1, 1)

    # Does the store go by a stubbed Time.now? An entry of a minute is written before the block, and gone in it.
    def travels?
      store.write("a", 1, expires_in: 60)
      yield -> { [store.read("a"), store.exist?("a"), store.read_multi("a")] == [nil, false, {}] }
    end

    test "travel_to, freeze_time and travel_back" do
      travels? do |gone|
        travel_to(LATER) { assert gone.call }
        store.write("c", 1, expires_in: 60)
        assert_equal 1, store.read("c")
        travel(61) { assert_nil store.read("c") }
      end
      freeze_time
      store.write("d", 1, expires_in: 0.001)
      assert_equal 1, store.read("d")
      travel_back
      sleep(0.002)
      assert_nil store.read("d")
    end

    test "Time.stub of Minitest" do
      require "minitest/mock"
      travels? do |gone|
        Time.stub(:now, LATER) { assert gone.call }
      end
    end

    test "a singleton method, and its removal" do
      assert(in_child do
        travels? do |gone|
          later = LATER
          Time.define_singleton_method(:now) { later }
          gone.call
        end
      end)
    end

    test "an alias chain, as gems that freeze time make it" do
      assert(in_child do
        travels? do |gone|
          later = LATER
          Time.singleton_class.class_eval do
            alias_method :now_without_mock, :now
            define_method(:now) { later }
          end
          gone.call
        end
      end)
    end

    test "a module prepended to Time, filled before or after" do
      assert(in_child do
        travels? do |gone|
          Time.singleton_class.prepend(Module.new { def now = LATER })
          gone.call
        end
      end)
      assert(in_child do
        travels? do |gone|
          late = Module.new
          Time.singleton_class.prepend(late)
          late.define_method(:now) { LATER }
          gone.call
        end
      end)
    end

    test "the clock's own time is taken again afterwards" do
      travel_to(LATER) { store.write("a", 1, expires_in: 60) }
      assert_in_delta LATER.to_f + 60, store.cache.__send__(:_get_entry, "a", nil)[1], 0.01
      store.write("a", 1, expires_in: 60)
      assert_in_delta Time.now.to_f + 60, store.cache.__send__(:_get_entry, "a", nil)[1], 10
    end

    # ---- silence ----

    test "silenced stores log nothing and are quick, others are not" do
      quiet = new_store.silence!
      text = log_of do
        assert_equal EVERY, taken(quiet)
        assert_empty taken
        store.mute { assert_equal EVERY, taken }
      end
      assert_includes text, "Cache write: a"
    end
  end
end
