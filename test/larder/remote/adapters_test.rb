# frozen_string_literal: true

# What LarderStore makes of a store that is its second level, without a server.

require "test_helper"
require "active_support/cache/larder_store"
require "active_support/core_ext/object/with"
require "dalli"
require "redis"
require "support/reported_errors"
require "support/solid_cache_application"

class LarderRemoteAdaptersTest < ActiveSupport::TestCase
  include ReportedErrors
  include TemporaryCaches

  # Nothing listens there.
  NOWHERE = "127.0.0.1:1"
  KEYS = ["k", "products/1-20261127", "long" * 25, "#{"long" * 25}.", "long" * 400, "of a b", "100%", "tab\t", "ü",
          "\xFF\x00".b, "caf\xE9", "{\xE9}*?[", "\xE9" * 300, "x".encode("UTF-16LE"),
          "del\x7F", "~", "!", "$", "#", "views/a:b?c=d"].freeze
  STORES = {
    redis: ->(options) { ActiveSupport::Cache::RedisCacheStore.new(url: "redis://#{NOWHERE}", **options) },
    memcached: ->(options) { ActiveSupport::Cache::MemCacheStore.new(NOWHERE, **options) },
    solid_cache: ->(options) { SolidCache::Store.new(**options) },
    files: ->(options) { ActiveSupport::Cache::FileStore.new("/tmp/larder-test-none", **options) }
  }.freeze

  def remote(store)
    Larder::Remote::Client.new(store, id: "none")
  end

  STORES.each do |name, made|
    [{}, { namespace: "shop" }, { namespace: -> { "called" } }].each do |options|
      test "keys of #{name} are those that it makes itself, with namespace #{options[:namespace].class}" do
        store = made.call(options)
        wanted = KEYS.map { |key| store.send(:normalize_key, key, store.options).b }
        behind = remote(made.call(options))
        assert_equal(wanted, KEYS.map { |key| behind.send(:name_of, behind.own_key(key)).b })
        assert_equal(wanted, KEYS.map { |key| behind.send(:name_of, behind.own_key(key).force_encoding("UTF-8")).b })
      end
    end
  end

  test "a class of the application that makes other keys is asked for them" do
    other = Class.new(ActiveSupport::Cache::RedisCacheStore) do
      private

      def normalize_key(...) = "mine/#{super}"
    end
    assert_equal "mine/k", remote(other.new(url: "redis://#{NOWHERE}")).send(:name_of, "k")
  end

  test "a store that the application has made stays as it is" do
    store = STORES[:redis].call(error_handler: nil)
    events = 0
    counting = ->(*) { events += 1 }
    behind = remote(store)
    ActiveSupport::Notifications.subscribed(counting, /\Acache_.*active_support\z/) do
      assert_nil store.read("k")
      assert_equal 1, events
      assert_raises(Larder::RemoteError) { behind.count(:increment, "k", 1, {}) }
      assert_equal 1, events
    end
  end

  # Before Ruby 3.2, Dalli has no time limit with its protocol :meta.
  PREFERRED = IO.method_defined?(:timeout=) ? "Meta" : "Binary"

  test "a named MemCacheStore gets the protocol :meta where that has time limits, unless there is a password" do
    Dalli.with(logger: Logger.new(nil)) do
      { [NOWHERE] => PREFERRED, [NOWHERE, { username: "me" }] => "Binary", [NOWHERE, { protocol: :meta }] => "Meta",
        ["memcached://me:secret@#{NOWHERE}"] => "Binary" }.each do |given, protocol|
        errors = reported { capture_io { @behind = remote([:mem_cache_store, *given]) } }
        ring = @behind.store.instance_variable_get(:@data).with { |client| client.send(:ring) }
        assert_equal "Dalli::Protocol::#{protocol}", ring.servers.first.class.name
        assert_empty errors
      end
    end
  end

  test "a named MemCacheStore of one server tries it again after a second, and one of several after Dalli's time" do
    delay = ->(*given) { Larder::Remote::Adapters::Memcached.defaults(given, {})[:down_retry_delay] }
    assert_equal([1, 1, 1, nil, nil], [[], ["a"], [["a:1"]], ["a,b"], %w[a b]].map { |given| delay.call(*given) })
    was, ENV["MEMCACHE_SERVERS"] = ENV.fetch("MEMCACHE_SERVERS", nil), "memcached://u:p@a,b"
    assert_equal [nil, nil], [delay.call, delay.call(nil)]
    assert_nil Larder::Remote::Adapters::Memcached.defaults([], {})[:protocol]
  ensure
    ENV["MEMCACHE_SERVERS"] = was
  end

  test "which patterns a store takes is known" do
    bare = Class.new(ActiveSupport::Cache::Store)
    caching = Class.new(bare) { prepend ActiveSupport::Cache::Strategy::LocalCache }
    own = Class.new(caching) { define_method(:delete_matched) { |*| 0 } }
    taken = { bare.new => [], caching.new => [], own.new => ["k*", /k/], STORES[:redis].call({}) => ["k*"],
              STORES[:memcached].call({}) => [], STORES[:solid_cache].call({}) => [],
              STORES[:files].call({}) => ["k*", /k/], ActiveSupport::Cache::MemoryStore.new => ["k*", /k/] }
    taken.each do |store, patterns|
      assert_equal(patterns, ["k*", /k/].select { |pattern| remote(store).matches?(pattern) }, store.class.inspect)
    end
  end

  test "the binary protocol of memcached is reported once, where the connections are not LarderStore's alone" do
    Dalli.with(logger: Logger.new(nil)) do
      errors = reported do
        capture_io { 2.times { remote(ActiveSupport::Cache::MemCacheStore.new(NOWHERE, protocol: :binary)) } }
      end
      assert_equal [Larder::RemoteError], errors.map(&:class)
      assert_match(/with Dalli's binary protocol.*remote: \[:mem_cache_store, …/, errors.first.message)
      assert_empty(reported { remote(ActiveSupport::Cache::MemCacheStore.new(NOWHERE, protocol: :meta)) })
    end
  end

  test "the binary protocol of memcached is reported where it is chosen, and the other one has time limits" do
    Dalli.with(logger: Logger.new(nil)) do
      errors = reported { capture_io { remote([:mem_cache_store, NOWHERE, { protocol: :binary }]) } }
      assert_equal PREFERRED == "Meta" ? [Larder::RemoteError] : [], errors.map(&:class)
    end
  end
end
