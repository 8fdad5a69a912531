# frozen_string_literal: true

# What differs between the stores that can be the second level: which errors they swallow, and how they read many
# entries.

require "larder/store/remote/redis_cluster"

module Larder
  module Store
    class Remote
      # Rails' stores on servers answer an error by a miss, and a delete that failed as one that found nothing.
      # LarderStore has to know the difference. So an adapter has its store raise.
      # @api private
      module Adapters
        # Of any other store: which errors it raises, and which it answers by a miss, is its own affair.
        class Any
          # @param store [ActiveSupport::Cache::Store]
          def initialize(store)
            @store = store
          end

          # @return [Array<Class>] that mean that the store could not serve
          def errors
            [SystemCallError, IOError]
          end

          # @param names [Array<String>] keys as the store has them
          # @return [Hash{String=>ActiveSupport::Cache::Entry}] also entries that have expired
          def read_entries(names, **options)
            names.to_h { |name| [name, @store.send(:read_entry, name, **options)] }.compact
          end
        end

        # In place of the methods by which these stores rescue errors.
        module Raising
          private

          # Of RedisCacheStore and Solid Cache.
          def failsafe(_method, **)
            yield
          end

          # Of MemCacheStore.
          def rescue_error_with(_fallback)
            yield
          end
        end

        # Of a store on a server.
        class Server < Any
          def initialize(store)
            super
            store.extend(Raising)
          end

          private

          # @param payloads [Hash{String=>String}] bytes as the store has them
          def entries_of(payloads, options)
            payloads.transform_values { |payload| @store.send(:deserialize_entry, payload, **options) }.compact
          end
        end

        # RedisCacheStore: Redis, Valkey, or a cluster. Its client is one of the gem redis, or of redis-client.
        class Redis < Server
          def initialize(store)
            super
            store.extend(RedisCluster)
          end

          def errors
            [*(::Redis::BaseError if defined?(::Redis::BaseError)), *(::RedisClient::Error if defined?(::RedisClient)),
             ConnectionPool::Error, ConnectionPool::TimeoutError]
          end

          def read_entries(names, **options)
            entries_of(@store.redis.then { |client| values(client, names) }.compact, options)
          end

          private

          # @return [Hash{String=>String, nil}]
          def values(client, names)
            return names.zip(RedisCluster.values(client, names)).to_h if RedisCluster.client?(client)
            return names.zip(client.mget(*names)).to_h if client.respond_to?(:mget)

            client.nodes_for(names).map { |node, keys| keys.zip(node.call("MGET", *keys)).to_h }.reduce({}, :merge)
          end
        end

        # MemCacheStore.
        class Memcached < Server
          def initialize(store)
            super
            @data = store.instance_variable_get(:@data)
          end

          def errors
            [Dalli::DalliError, ConnectionPool::Error, ConnectionPool::TimeoutError]
          end

          # Dalli leaves out the keys of a server that it cannot reach: they are missing.
          def read_entries(names, **options)
            entries_of(@data.with { |client| client.get_multi(names) }, options)
          end
        end

        # Solid Cache, on whatever database.
        class SolidCache < Server
          def errors
            [ActiveRecord::ActiveRecordError]
          end

          def read_entries(names, **options)
            entries_of(@store.send(:read_serialized_entries, names).compact, options)
          end
        end

        # By the names of classes, which need not be loaded.
        NAMES = { "ActiveSupport::Cache::RedisCacheStore" => Redis, "ActiveSupport::Cache::MemCacheStore" => Memcached,
                  "SolidCache::Store" => SolidCache }.freeze
        private_constant :NAMES

        # @return [Any] the adapter of a store
        def self.of(store)
          name = store.class.ancestors.map(&:name).find { |ancestor| NAMES.key?(ancestor) }
          NAMES.fetch(name, Any).new(store)
        end
      end
    end
  end
end
