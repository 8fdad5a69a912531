# frozen_string_literal: true

# Two levels over a RedisCacheStore whose client is redis-client instead of the gem redis, as that of Rails 8.2.

require "support/remote_case"
require "support/redis_cluster"
require "connection_pool"
require "redis_client"
require "redis_client/hash_ring"

module LarderStore
  # Larder::Remote::Adapters::Redis, over each kind of client.
  class RemoteRedisClientTest < RemoteCase
    # What that store is to LarderStore: its private methods, and a client with call, pipelined, node_for and nodes_for.
    class Store < ActiveSupport::Cache::Store
      attr_reader :redis

      def self.name
        "ActiveSupport::Cache::RedisCacheStore"
      end

      def initialize(client:, **options)
        @redis = client
        super(options)
      end

      def clear(_options = nil)
        failsafe(:clear) { redis.nodes.each { |node| node.call("flushdb") } }
      end

      def increment(name, amount = 1, options = nil)
        key = normalize_key(name, merged_options(options))
        failsafe(:increment) { redis.node_for(key).call("incrby", key, amount) }
      end

      private

      def read_entry(key, raw: false, **)
        payload = failsafe(:read_entry) { redis.node_for(key).call("get", key) }
        deserialize_entry(payload, raw: raw)
      end

      def write_entry(key, entry, pipeline: nil, unless_exist: false, expires_in: nil, **)
        command = ["set", key, serialize_entry(entry)]
        command.push("px", (expires_in * 1000).ceil) if expires_in
        command << "nx" if unless_exist
        return pipeline.call(*command) if pipeline

        failsafe(:write_entry) { redis.node_for(key).call(*command) == "OK" }
      end

      def write_multi_entries(entries, **options)
        redis.nodes_for(entries.keys).each do |node, keys|
          failsafe(:write_multi_entries) do
            node.pipelined { |pipe| keys.each { |key| write_entry(key, entries[key], pipeline: pipe, **options) } }
          end
        end
      end

      def delete_entry(key, **)
        failsafe(:delete_entry, returning: false) { redis.node_for(key).call("unlink", key) == 1 }
      end

      def delete_multi_entries(entries, **)
        redis.nodes_for(entries).sum { |node, keys| failsafe(:delete_multi_entries) { node.call("unlink", *keys) } }
      end

      def deserialize_entry(payload, raw: false, **)
        raw && payload ? ActiveSupport::Cache::Entry.new(payload) : super(payload)
      end

      def failsafe(_method, returning: nil)
        yield
      rescue RedisClient::ConnectionError
        returning
      end
    end

    setup do
      @servers_here = Array.new(2) { start("redis") }
      @kinds = { pooled: config(@servers_here.first).new_pool(size: 2),
                 ring: RedisClient::HashRing.new(@servers_here.map { |server| config(server).new_pool(size: 2) }) }
    end

    test "each kind of client reads, writes and deletes" do
      @kinds.each { |kind, client| assert_levels(kind, client) }
    end

    test "a dead server is one that fails, and gets its deletes when it is back" do
      entries = Array.new(20) { |number| ["k#{number}", number] }.to_h # some of them on each server of a ring
      @kinds.each do |kind, client|
        far = Store.new(client: client, coder: Larder::Coder.new)
        one = new_store("#{kind}.larder", remote: far)
        one.write_multi(entries)
        TestServers.kill(@servers_here.first)
        errors = reported do
          assert_equal entries, one.read_multi(*entries.keys)
          one.delete_multi(entries.keys)
          assert_empty one.read_multi(*entries.keys)
        end
        assert_equal [Larder::RemoteError], errors.map(&:class)
        @servers_here.first.start
        far.write_multi(entries)
        assert(eventually { caught_up?(one) })
        assert_empty(entries.keys.select { |key| far.exist?(key) })
      end
    end

    test "several URLs of the gem redis: one server is dead, and the other is asked" do
      urls = @servers_here.map { |server| server.endpoint.fetch("url") }
      remote = [:redis_cache_store, { url: urls, reconnect_attempts: 0, coder: Larder::Coder.new }]
      one = new_store("urls.larder", remote: remote)
      names = Array.new(20) { |number| "k#{number}" }
      one.write_multi(names.to_h { |name| [name, 1] })
      TestServers.kill(@servers_here.first)
      names.each { |name| one.write(name, 2) }
      assert_not one.instance_variable_get(:@remote).outbox.journal.empty?
      there = names.select { |name| new_store("other.larder", remote: remote).read(name) }
      assert_includes 1..19, there.size
      travel(6, with_usec: true) { assert_equal(there, names.select { |name| one.read(name) }) }
      @servers_here.first.start
      assert(eventually { caught_up?(one) })
    end

    test "a refused command is an error, too" do
      far = Store.new(client: @kinds[:pooled])
      one = new_store("refused.larder", remote: far)
      one.write("k", 1)
      @kinds[:pooled].call("replicaof", "127.0.0.1", "1")
      one.delete("k")
      assert_nil one.read("k")
      @kinds[:pooled].call("replicaof", "no", "one")
      assert(eventually { caught_up?(one) })
      assert_nil far.read("k")
    end

    slow_test "a cluster's client gets a command for each key" do
      skip "the gem redis-clustering is not in the bundle" unless Gem.loaded_specs.key?("redis-clustering")

      require "redis-cluster-client"
      place = Dir.mktmpdir("larder-test-cluster")
      cluster = RedisCluster.new(place, count: 3).start
      client = RedisClient.cluster(nodes: cluster.urls, timeout: 1).new_client
      assert_levels(:cluster, client)
    ensure
      client&.close
      cluster&.stop
      FileUtils.rm_rf(place) if place
    end

    private

    def config(server)
      RedisClient.config(path: server.endpoint.fetch("url").delete_prefix("unix://"), timeout: 1, reconnect_attempts: 0)
    end

    def assert_levels(kind, client)
      one, two = %w[one two].map { |name| over(client, "#{kind}-#{name}") }
      names = Array.new(20) { |number| "{#{number}}k" }
      one.write_multi(names.to_h { |name| [name, name.upcase] }, expires_in: 60)
      assert_equal(names.to_h { |name| [name, name.upcase] }, two.read_multi(*names), kind)
      assert_equal 20, one.delete_multi([*names, "none"]), kind
      assert_empty over(client, "#{kind}-three").read_multi(*names), kind
      one.write("t", 1, tags: "tag")
      two.delete_tagged("tag")
      assert_nil over(client, "#{kind}-four").read("t"), kind
      assert_equal 2, one.increment("n", 2), kind
      assert_same true, one.clear, kind
      assert_nil two.read("n", raw: true), kind
    end

    def over(client, name)
      new_store("#{name}.larder", remote: Store.new(client: client, coder: Larder::Coder.new))
    end
  end
end
