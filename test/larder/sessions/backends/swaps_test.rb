# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "redis-clustering"
require "redis_client"
require "redis_client/hash_ring"
require "larder/sessions"
require "larder/sessions/backends/shared"
require "larder/sessions/backends/swaps"
require "support/redis_cluster"
require "support/servers"
require "support/solid_cache_application"

module Larder
  module Sessions
    module Backends
      # The compare-and-swap of each kind of store that machines share, with each kind of client.
      class SwapsTest < ActiveSupport::TestCase
        include TemporaryCaches
        include Processes

        KEY = "s/#{"k" * 32}".freeze
        OTHER = ("\0\r\n\xff".b * 20)

        # name => what is typed, of a test
        STORES = {
          "Redis"         => ->(test) { [:redis_cache_store, { url: test.url("redis") }] },
          "several Redis" => ->(test) { [:redis_cache_store, { url: [0, 1].map { |db| test.url("redis", db) } }] },
          "a cluster"     => ->(test) { [:redis_cache_store, { redis: Redis::Cluster.new(nodes: test.cluster.urls) }] },
          "memcached"     => ->(test) { [:mem_cache_store, test.url("memcached"), { protocol: :meta }] },
          "Solid Cache"   => ->(_) { SolidCacheApplication.cache_store }
        }.freeze

        teardown { @cluster&.stop }

        STORES.each do |name, typed|
          test "a value is replaced only by a caller that knows it, in #{name}" do
            backend = backend(typed.call(self))
            assert_equal :gone, backend.swap(KEY, "1", "2", 60)
            assert_equal :stored, backend.add(KEY, "1", 60)
            assert_equal :changed, backend.swap(KEY, "2", "3", 60)
            assert_equal :stored, backend.swap(KEY, "1", OTHER, 60)
            assert_equal OTHER, backend.read(KEY)
            assert_equal :stored, backend.swap(KEY, OTHER, "3", nil)
            assert backend.delete(KEY)
            assert_equal :gone, backend.swap(KEY, "3", "4", 60)
            assert_nil backend.read(KEY)
          end

          test "of many changes at the same time one succeeds, in #{name}" do
            backend = backend(typed.call(self))
            assert_equal :stored, backend.add(KEY, "0", 60)
            threads = Array.new(4) do |thread|
              Thread.new { 10.times { |turn| add(backend, "#{thread}#{turn}") } }
            end
            threads.each(&:join)
            expected = (0..3).to_a.product((0..9).to_a).map(&:join)
            assert_equal ["0", *expected].sort, backend.read(KEY).split.sort
          end
        end

        test "Redis forgets a value after its time" do
          backend = backend(STORES.fetch("Redis").call(self))
          backend.add(KEY, "1", 60)
          assert_equal :stored, backend.swap(KEY, "1", "2", 1234.5)
          assert_includes 1_234_000..1_234_500, time_in_redis
          assert_equal :stored, backend.swap(KEY, "2", "3", nil)
          assert_equal(-1, time_in_redis)
        end

        test "clients of redis-client are used, too" do
          path = url("redis").delete_prefix("unix://")
          clients = Array.new(2) { |number| RedisClient.new(path: path, db: number) }
          [clients.first, RedisClient.ring(*clients)].each do |client|
            store = Struct.new(:redis).new(client).extend(Swaps::Redis)
            name = SecureRandom.hex
            assert_nil store.cas(name, {}) { flunk }
            (client.respond_to?(:node_for) ? client.node_for(name) : client).call("SET", name, "1")
            assert_equal true, store.cas(name, { expires_in: 1 }) { |value| "#{value}2" }
            assert_equal "12", (store.cas(name, {}) { |value| break value })
          end
        end

        test "a store without a compare-and-swap gets none" do
          store = ActiveSupport::Cache::MemoryStore.new
          refute_respond_to Swaps.extend_store(store), :cas
        end

        def url(server, number = 0)
          url = TestServers.endpoint(server)&.fetch("url") || skip("#{server} is not installed")
          number.zero? ? url : "#{url}?db=#{number}"
        end

        def cluster
          skip("redis is not installed") unless RedisCluster::Node.path
          @cluster ||= RedisCluster.new(directory).start
        end

        private

        def backend(typed)
          ActiveSupport::Cache.lookup_store(*typed).clear
          Configuration.new(cache: typed, cache_id: "swaps", file: path_of("swaps.larder")).repository.backend
        end

        # A database on a busy machine may take longer than its limit. Then the word may have been added or not.
        def add(backend, word)
          1_000.times do
            before = backend.read(KEY)
            return if before.split.include?(word) || backend.swap(KEY, before, "#{before} #{word}", 60) == :stored
          rescue UnavailableError
            sleep 0.1
          end
          flunk "#{word} was never added"
        end

        def time_in_redis
          redis = Redis.new(url: url("redis"))
          redis.pttl(Store.name_of(KEY))
        ensure
          redis&.close
        end
      end
    end
  end
end
