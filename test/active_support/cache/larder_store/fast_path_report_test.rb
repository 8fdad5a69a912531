# frozen_string_literal: true

# What stats[:fast_path] tells: it never disagrees with what calls do, and names who is the reason.

require "support/store_case"
require "support/fast_path_calls"
require "active_support/log_subscriber"

module LarderStoreTests
  class FastPathReportTest < StoreCase
    include FastPathCalls

    Store = ActiveSupport::Cache::Store
    LarderStore = ActiveSupport::Cache::LarderStore
    FastPath = Larder::Store::FastPath

    # Everything was checked just before the test.
    setup do
      store.read("a")
      FastPath.check
    end

    # What a child is told where the block has changed something, once it is seen that it is what calls do.
    def told_where(asked = store)
      in_child do
        yield
        told = asked.stats[:fast_path]
        real = taken(asked)
        raise "told #{told}, taken #{real}" unless real == (told[:on] ? EVERY : [])

        told
      end
    end

    def reason_where(asked = store, &block)
      told = told_where(asked, &block)
      assert_equal false, told[:on]
      assert_equal 1, told[:reasons].size, told[:reasons].inspect
      told[:reasons].first
    end

    test "it is on where nobody patches and listens" do
      2.times { assert_equal({ on: true, reasons: [] }, told_where { nil }) }
    end

    test "a patch is named with its place" do
      place = "#{__FILE__}:#{__LINE__ + 1}"
      reason = reason_where { Store.class_eval { define_method(:read) { |*| nil } } }
      assert_equal "ActiveSupport::Cache::Store#read (#{place}) is a patch, or not Rails' own", reason
      tracer = Module.new { def fetch(...) = super.itself }
      Object.const_set(:SomeTracer, tracer)
      assert_match(/\ASomeTracer#fetch \(#{__FILE__}:\d+\) is a patch/, reason_where { LarderStore.prepend(tracer) })
    ensure
      Object.send(:remove_const, :SomeTracer)
    end

    test "a patch of what is around the stores is named" do
      reason = reason_where { ActiveSupport::Cache::Entry.class_eval { define_method(:expired?) { false } } }
      assert_match(/\AActiveSupport::Cache::Entry#expired\? \(.*_test\.rb:\d+\) is a patch/, reason)
    end

    test "a method that keys have got is named" do
      reason = reason_where do
        String.class_eval { def cache_version = "1" }
        FastPath.check
      end
      assert_match(/\AString#cache_version \(.*_test\.rb:\d+\) changes the keys/, reason)
    end

    test "a Rails that nobody tested is named" do
      reason = reason_where do
        ActiveSupport.singleton_class.prepend(Module.new { def gem_version = Gem::Version.new("9.1.2") })
        FastPath.check
      end
      assert_equal "Rails 9.1 is none of those it was tested on: 7.1, 7.2, 8.0, 8.1", reason
    end

    test "listeners leave it on, for calls are answered within their events" do
      skip "Rails 7.1 has other payloads, which C does not know" unless Larder::Store::Keys::INSTRUMENTS_KEYS
      told = told_where { ActiveSupport::Notifications.subscribe(/\Acache_/) { |*| nil } }
      assert_equal({ on: true, reasons: [] }, told)
    end

    test "on Rails 7.1 listeners are named with what they listen to" do
      skip "later payloads are known to C" if Larder::Store::Keys::INSTRUMENTS_KEYS
      place = "#{__FILE__}:#{__LINE__ + 1}"
      reason = reason_where { ActiveSupport::Notifications.subscribe(/\Acache_(write|delete)\./) { |*| nil } }
      assert_equal "a block at #{place} listens to cache_write.active_support, cache_delete.active_support", reason
      subscriber = Class.new(ActiveSupport::Subscriber) do
        def self.name = "Tracing::CacheSubscriber"
        def cache_exist?(_event) = false
      end
      assert_equal "Tracing::CacheSubscriber listens to cache_exist?.active_support",
                   reason_where { subscriber.attach_to(:active_support) }
    end

    test "a notifier that is not Rails' is named on Rails 7.1" do
      skip "later payloads are known to C" if Larder::Store::Keys::INSTRUMENTS_KEYS
      notifier = Class.new(SimpleDelegator) { def self.name = "Quiet" }
      reason = reason_where do
        ActiveSupport::Notifications.notifier = notifier.new(ActiveSupport::Notifications.notifier)
      end
      assert_match(/\AQuiet listens to cache_/, reason)
    end

    test "a debug log is told of, with what turns it off" do
      reason = reason_where { Store.logger = ActiveSupport::Logger.new(IO::NULL, level: :debug) }
      assert_match(/debug messages.*config\.log_level to :info/, reason)
    end

    test "what was added to one store is told of that store" do
      other = new_store
      own = Module.new { def read(...) = super.itself }
      assert_match(/this store object was extended or stubbed: #<Module/, reason_where(other) { other.extend(own) })
      assert_equal({ on: true, reasons: [] }, told_where { other.extend(own) })
    end

    test "options that are more than a Hash are told of" do
      odd = Class.new(LarderStore) do
        def initialize(...)
          super
          @options.default = 1
          FastPath.attach(self, @cache, @options, 4096, true, true, false, false)
        end
      end
      assert_equal "the store's options are no plain Hash", reason_where(odd.new(path_of, size: SIZE)) { odd }
    end

    test "an object that is not a LarderStore is refused" do
      [nil, :store, ActiveSupport::Cache::MemoryStore.new].each do |other|
        error = assert_raises(TypeError) { FastPath.report(other) }
        assert_equal "store must be an ActiveSupport::Cache::LarderStore, got #{other.class}", error.message
      end
    end

    test "more classes than it tells apart are told of" do
      reasons = in_child do
        stores = Array.new(40) { Class.new(LarderStore).new(path_of, size: SIZE) }
        stores.map { |other| other.stats[:fast_path][:reasons] }.uniq
      end
      assert_equal [["there are more classes of stores than it can tell apart"], []], reasons.sort_by(&:size).reverse
    end

    test "without is told of" do
      FastPath.without { assert_match(/FastPath\.without/, store.stats[:fast_path][:reasons].first) }
      assert store.stats[:fast_path][:on]
    end
  end
end
