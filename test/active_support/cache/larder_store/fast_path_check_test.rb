# frozen_string_literal: true

# Patches that take effect at once, and all others: the fast path checks everything once in a second, and goes by the
# result. Each test changes something for good, in a child.

require "support/store_case"
require "support/fast_path_calls"

module LarderStoreTests
  class FastPathCheckTest < StoreCase
    include FastPathCalls

    Store = ActiveSupport::Cache::Store
    LarderStore = ActiveSupport::Cache::LarderStore
    Entry = ActiveSupport::Cache::Entry
    FastPath = Larder::Store::FastPath
    WITH_EVENTS = Larder::Store::Keys::INSTRUMENTS_KEYS ? EVERY : [].freeze # in C, while there is a subscriber
    LONGEST = 1.2 # seconds: the second, and the tick of the cheap clock

    setup { store }

    # Children that make a patch each, at the same time.
    #
    # @return [Hash{Object=>Array}] for each patch what the block answers before it, at once after it, and when a second
    #   has passed
    def at_once_and_later(patches, &answer)
      patches.transform_values { |patch| child_with { answers_around(patch, &answer) } }.transform_values(&:call)
    end

    # Each child has a file of its own: where Strings are patched, all keys are one.
    def answers_around(patch)
      @store = new_store("#{Process.pid}.larder")
      store.write("a", 1)
      before = yield
      patch.call
      at_once = yield
      sleep(LONGEST)
      [before, at_once, yield]
    end

    # ---- seen at once ----

    OF_STORE = {
      "a definition" => lambda do
        Store.class_eval { private def namespace_key(key, _ = nil) = "patched-#{key}" }
      end,
      "a prepended module" => lambda do
        Store.prepend(Module.new { private def namespace_key(...) = "patched-#{super}" })
      end,
      "options" => lambda do
        Store.prepend(Module.new { private def normalize_options(...) = super.merge(namespace: "patched-a", tag: 1) })
      end
    }.freeze

    test "patches of Rails' Store are obeyed at once, also where the store has a shorter form of the method" do
      found = at_once_and_later(OF_STORE) do
        [store.read("a", expires_in: 5), FastPath.without { store.read("a", expires_in: 5) }]
      end
      found.each { |name, answers| assert_equal [[1, 1]] + ([[nil, nil]] * 2), answers, name }
    end

    test "debug? of a broadcast is asked from the moment it is stubbed" do
      skip "this Rails has no BroadcastLogger" unless defined?(ActiveSupport::BroadcastLogger)

      broadcast = ActiveSupport::BroadcastLogger.new(ActiveSupport::Logger.new(StringIO.new, level: :info))
      patch = -> { broadcast.define_singleton_method(:debug?) { true } }
      ActiveSupport::Cache::Store.with(logger: broadcast) do
        assert_equal [EVERY, [], []], in_child { answers_around(patch) { taken } }
      end
    end

    # ---- seen after a second ----

    AROUND = {
      "a module prepended to one of ours" => lambda do
        Larder::Store::Entries.prepend(Module.new { def read_entry(...) = super.itself })
      end,
      "a method of one of our modules redefined" => lambda do
        Larder::Store::Keys.class_eval { def truncate_key(key) = key }
      end,
      "a module prepended to the fast path's own" => lambda do
        FastPath.prepend(Module.new { def read(...) = super.itself })
      end,
      "Entry.new" => -> { Entry.define_singleton_method(:new) { |*given, **named| super(*given, **named) } },
      "Entry.new by extend" => -> { Entry.extend(Module.new { def new(...) = super.itself }) },
      "Entry.new by prepend" => -> { Entry.singleton_class.prepend(Module.new { def new(...) = super.itself }) },
      "WriteOptions.new" => lambda do
        ActiveSupport::Cache::WriteOptions.define_singleton_method(:new) { |given| super(given) }
      end
    }.freeze

    test "patches of what is around a store are found after a second" do
      at_once_and_later(AROUND) { taken }.each do |name, (before, _, later)|
        assert_equal [EVERY, []], [before, later], name
      end
    end

    OF_NOTIFIER = {
      "a stub" => -> { ActiveSupport::Notifications.notifier.define_singleton_method(:listening?) { |_| true } },
      "a definition" => -> { ActiveSupport::Notifications::Fanout.class_eval { def listening?(_) = true } },
      "a prepended module" => lambda do
        ActiveSupport::Notifications::Fanout.prepend(Module.new { def listening?(_) = true })
      end
    }.freeze

    test "listening? is asked a second after it was stubbed or redefined" do
      at_once_and_later(OF_NOTIFIER) { taken }.each do |name, (before, _, later)|
        assert_equal [EVERY, WITH_EVENTS], [before, later], name
      end
    end

    # Empty when it is prepended.
    module Late
    end

    module Marker
      def marked = true
    end

    LATER = {
      "a named module that is filled after it was prepended" => lambda do
        Late.class_eval { def read(...) = "patched" }
      end,
      "one that had a method before" => -> { Marker.class_eval { def read(...) = "patched" } },
      "to_param of Symbols" => -> { Symbol.class_eval { def to_param = "b" } },
      "to_param of everything" => -> { Object.class_eval { def to_param = "b" } },
      "cache_key of Symbols" => -> { Symbol.class_eval { def cache_key = "b" } },
      "cache_version of Symbols" => -> { Symbol.class_eval { def cache_version = "2" } },
      "to_s of Symbols" => -> { Symbol.prepend(Module.new { def to_s = "b" }) },
      "cache_key of Strings" => -> { String.class_eval { def cache_key = "b" } },
      "cache_key of Strings, by a module" => -> { String.include(Module.new { def cache_key = "b" }) },
      "cache_version of Strings" => -> { String.class_eval { def cache_version = "2" } },
      "to_param of Strings" => -> { String.class_eval { def to_param = "b" } },
      "to_param of Strings, by a module" => -> { String.prepend(Module.new { def to_param = "b" }) },
      "cache_key of Arrays" => -> { Array.class_eval { def cache_key = "b" } },
      "to_param of Integers" => -> { Integer.class_eval { def to_param = "b" } },
      "to_a of Strings" => -> { String.class_eval { def to_a = [] } },
      "respond_to? of Strings" => lambda do
        String.class_eval do
          define_method(:respond_to?) { |name, all = false| name == :cache_key || super(name, all) }
          define_method(:method_missing) { |name, *given| name == :cache_key ? "b" : super(name, *given) }
        end
      end,
      "respond_to_missing? of Strings" => lambda do
        String.class_eval do
          def respond_to_missing?(name, _) = name == :cache_key
          def method_missing(name, ...) = name == :cache_key ? "b" : super
        end
      end
    }.freeze
    NAMES = [:k, "k", [1, "k"]].freeze # what taken leaves alone

    test "patches of keys, and methods that a module gets later, are found after a second, and asked" do
      LarderStore.prepend(Late, Marker)
      found = at_once_and_later(LATER) { [answers, FastPath.without { answers }, taken] }
      found.each do |name, (before, _, later)|
        assert_equal [%w[kept kept kept]] * 2 << EVERY, before, name
        assert_equal [later[1], []], [later[0], later[2] - [:read]], name # a patched read may not come to Rails'
        assert_not_equal before[0], later[0], name
      end
    end

    # Written once, before the patch.
    def answers
      @written ||= NAMES.each { |given| store.write(given, "kept", version: given.is_a?(Array) ? nil : "1") }
      NAMES.map { |given| store.read(given) }
    end

    test "debug? of loggers that is defined later is found after a second" do
      ActiveSupport::Cache::Store.with(logger: ActiveSupport::Logger.new(StringIO.new, level: :info)) do
        patch = -> { ActiveSupport::Logger.class_eval { def debug? = true } }
        assert_equal [EVERY, []], in_child { answers_around(patch) { taken } }.values_at(0, 2)
      end
    end

    test "a module put around the notifier is found after a second" do
      patch = -> { ActiveSupport::Notifications.notifier.extend(Module.new { def listening?(_) = true }) }
      assert_equal [EVERY, WITH_EVENTS], in_child { answers_around(patch) { taken } }.values_at(0, 2)
    end

    test "a patch that is taken away is forgotten after a second" do
      patch = -> { Symbol.class_eval { remove_method(:cache_version) } }
      assert_equal [[], EVERY], in_child {
        Symbol.class_eval { def cache_version = "2" }
        FastPath.check
        [taken, patch.call && sleep(LONGEST) && taken]
      }
    end

    test "a check in one thread does not undo what another one finds" do
      seen, on = in_child do
        ended = false
        checking = Array.new(3) { Thread.new { FastPath.check until ended } }
        heard = Array.new(200) do
          count = 0
          subscriber = ActiveSupport::Notifications.subscribe("cache_write.active_support") { count += 1 }
          store.write("a", 1)
          ActiveSupport::Notifications.unsubscribe(subscriber)
          store.write("a", 1)
          count
        end
        ended = true
        checking.each(&:join)
        [heard.uniq, FastPath.check && taken]
      end
      assert_equal [[1], EVERY], [seen, on]
    end
  end
end
