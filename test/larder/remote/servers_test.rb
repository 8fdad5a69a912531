# frozen_string_literal: true

# Which servers a remote store is on, without a server.

require "test_helper"
require "active_support/cache/larder_store"
require "dalli"
require "redis"
require "redis_client/hash_ring"
require "support/environment"
require "support/solid_cache_application"

class LarderRemoteServersTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Environment
  include Processes

  RedisStore = ActiveSupport::Cache::RedisCacheStore
  MemCacheStore = ActiveSupport::Cache::MemCacheStore
  # In each row the same servers, in each other row others. Nothing listens there.
  SAME = {
    redis: [
      [{ url: "redis://h" }, { url: "redis://h:6379/0" }, { url: "redis://:secret@H:6379" }, { host: "h", db: 0 },
       { url: "rediss://h:6379" }, { redis: Redis.new(host: "h") }, { redis: RedisClient.config(host: "h").new_client },
       { redis: RedisClient.config(host: "h").new_pool(size: 1), pool: false }, { url: "redis://h", namespace: "n" }],
      [{ url: "redis://h/1" }, { host: "h", db: 1 }],
      [{ url: "redis://h:1" }],
      [{ url: "unix:///run/s" }, { path: "/run/s" }],
      [{ url: %w[redis://a redis://b] }, { url: %w[redis://b redis://a:6379/0] },
       { redis: RedisClient::HashRing.new(%w[b a].map { |host| RedisClient.config(host: host).new_pool(size: 1) }) }],
      [{ name: "main", sentinels: [{ host: "a" }, { host: "b", password: "secret" }] },
       { url: "redis://main", sentinels: [{ host: "b" }, { host: "a" }], password: "secret" }],
      [{ name: "other", sentinels: [{ host: "a" }, { host: "b" }] }]
    ],
    memcached: [
      [["a", "b:11212"], ["b:11212", "a:11211"], "A,b:11212"],
      [["a:11211:2", "b:11212"]],
      ["a", "a:11211:1"],
      ["/run/memcached"]
    ]
  }.freeze

  def identity(store, id: nil)
    store = ActiveSupport::Cache.lookup_store(*store) unless store.is_a?(ActiveSupport::Cache::Store)
    Larder::Remote::Client.new(store, id: id).identity
  end

  def assert_rows(rows)
    found = rows.map { |same| same.map { |given| yield given }.uniq }
    found.each_with_index { |identities, row| assert_equal 1, identities.size, "#{rows[row]}: #{identities}" }
    assert_equal rows.size, found.flatten.uniq.size, found
    assert_no_match(/secret/, found.flatten.join)
  end

  test "of RedisCacheStore, with each of its clients" do
    assert_rows(SAME[:redis]) { |options| identity(RedisStore.new(**options)) }
  end

  test "of REDIS_URL, if no other one is given" do
    with_environment("REDIS_URL" => "redis://h") do
      assert_equal identity(RedisStore.new(host: "h")), identity(RedisStore.new)
    end
  end

  test "of a cluster, whose client has connected to none of its nodes" do
    Gem.loaded_specs.key?("redis-clustering") || skip("the gem redis-clustering is not in the bundle")
    require "redis-clustering"
    nodes = %w[redis://a:1 redis://b:2]
    one, two = [nodes, nodes.reverse].map { |given| identity(RedisStore.new(redis: Redis::Cluster.new(nodes: given))) }
    assert_equal one, two
    assert_includes one, "a:1"
  end

  test "of MemCacheStore, whose servers may have any order" do
    assert_rows(SAME[:memcached]) { |servers| identity(MemCacheStore.new(*servers, failover: false)) }
    with_environment("MEMCACHE_SERVERS" => "a") do
      assert_equal identity(MemCacheStore.new("a")), identity(MemCacheStore.new)
    end
  end

  test "of FileStore, MemoryStore and NullStore" do
    one, two, same = %w[a b ./a].map { |name| identity(ActiveSupport::Cache::FileStore.new(name)) }
    assert_equal one, same
    assert_not_equal one, two
    memory = ActiveSupport::Cache::MemoryStore.new
    assert_equal identity(memory), identity(memory)
    assert_not_equal identity(memory), identity(ActiveSupport::Cache::MemoryStore.new)
    reader, writer = IO.pipe
    Process.wait(fork { writer.write(identity(memory)) && exit!(0) })
    writer.close
    assert_not_equal identity(memory), reader.read
    assert_match(/NullStore/, identity(ActiveSupport::Cache::NullStore.new))
  end

  test "of Solid Cache, as the application's configuration says" do
    SolidCacheApplication.cache_store
    one = identity(SolidCache::Store.new)
    assert_match(/sqlite3.*cache.sqlite3/, one)
    configured = SolidCache.configuration
    SolidCache.configuration = SolidCache::Configuration.new(databases: %i[primary other])
    both, first = identity(SolidCache::Store.new), identity(SolidCache::Store.new(shards: [:primary]))
    assert_match(/other=other.*primary=.*cache.sqlite3/, both)
    assert_no_match(/other=/, first)
    assert_equal 3, [one, both, first].uniq.size
  ensure
    SolidCache.configuration = configured if configured
  end

  test "of Solid Cache in an application that boots, when its classes are not loaded yet" do
    FileUtils.mkdir_p(path_of("config"))
    database = ->(name) { { adapter: "sqlite3", database: "storage/#{name}.sqlite3", password: "secret" } }
    File.write(path_of("config/database.yml"),
               JSON.generate(production: { primary: database["primary"], cache: database["cache"] }))
    File.write(path_of("config/cache.yml"), JSON.generate(production: { database: "cache" }))
    output = run_ruby(<<~RUBY, directory, options: ["-rbundler/setup"], env: { "RAILS_ENV" => "production" })
      %w[rails active_record/railtie active_job/railtie solid_cache logger].each { |name| require name }
      class Booting < Rails::Application
        config.root = ARGV.first
        config.secret_key_base = "test" * 10
        config.eager_load = false
        config.logger = Logger.new(nil)
        config.cache_store = :larder_store, File.join(ARGV.first, "one.larder"), { remote: :solid_cache_store }
      end
      Booting.initialize!
      puts Rails.cache.remote.identity
    RUBY
    assert_equal "SolidCache::Store cache=adapter sqlite3 database storage/cache.sqlite3\n", output
  end

  test "a client that is not known, and a block that cannot connect, are refused" do
    wrapped = Struct.new(:client) { def close; end }
    [wrapped.new(1), -> { raise Redis::CannotConnectError, "down" }].each do |redis|
      error = assert_raises(ArgumentError) { identity(RedisStore.new(redis: redis)) }
      assert_match(/RedisCacheStore\) whose servers are not known .*remote_id:/, error.message)
      assert_match(/RedisCacheStore mine/, identity(RedisStore.new(redis: redis), id: "mine"))
    end
  end
end
