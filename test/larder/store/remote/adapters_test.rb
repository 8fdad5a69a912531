# frozen_string_literal: true

# What LarderStore makes of a store that is its second level, without a server.

require "test_helper"
require "active_support/cache/larder_store"
require "dalli"
require "redis"
require "support/solid_cache_application"

class LarderStoreRemoteAdaptersTest < ActiveSupport::TestCase
  include TemporaryCaches

  # Nothing listens there.
  NOWHERE = "127.0.0.1:1"
  KEYS = ["k", "products/1-20261127", "long" * 25, "#{"long" * 25}.", "long" * 400, "of a b", "100%", "tab\t", "ü",
          "\xFF\x00".b, "del\x7F", "~", "!", "$", "#", "views/a:b?c=d"].freeze
  STORES = {
    redis: ->(options) { ActiveSupport::Cache::RedisCacheStore.new(url: "redis://#{NOWHERE}", **options) },
    memcached: ->(options) { ActiveSupport::Cache::MemCacheStore.new(NOWHERE, **options) },
    solid_cache: ->(options) { SolidCache::Store.new(**options) },
    files: ->(options) { ActiveSupport::Cache::FileStore.new("/tmp/larder-test-none", **options) }
  }.freeze

  def remote(store)
    Larder::Store::Remote.new(store, journal: path_of("journal"), id: "none")
  end

  STORES.each do |name, made|
    [{}, { namespace: "shop" }, { namespace: -> { "called" } }].each do |options|
      test "keys of #{name} are those that it makes itself, with namespace #{options[:namespace].class}" do
        store = made.call(options)
        wanted = KEYS.map { |key| store.send(:normalize_key, key, store.options).b }
        behind = remote(made.call(options))
        assert_equal(wanted, KEYS.map { |key| behind.send(:name_of, behind.own_key(key)).b })
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
end
