# frozen_string_literal: true

# What differs between the stores that can be the second level: which errors they swallow, and how they read many
# entries.

require "securerandom"
require "larder/store/remote/connections"
require "larder/store/remote/redis_cluster"
require "larder/store/remote/servers"

module Larder
  module Store
    class Remote
      # Rails' stores on servers answer an error by a miss, and a delete that failed as one that found nothing.
      # LarderStore has to know the difference. So an adapter has its store raise.
      # @api private
      module Adapters
        # A key that all stores use as it is: neither long, nor with characters that one of them escapes.
        ORDINARY = /\A[!-$&-~]{1,100}\z/

        # Of any other store: which errors it raises, and which it answers by a miss, is its own affair.
        class Any
          # @param _arguments [Array<Object>] that the store is given
          # @param _options [Hash] that the store is given
          # @return [Hash{Symbol=>Object}] options unless others are given
          def self.defaults(_arguments, _options)
            {}
          end

          # @param _store [ActiveSupport::Cache::Store] that was just made
          # @param _options [Hash] that it was given
          # @raise [StandardError] of options that it takes, and that its client refuses
          def self.check(_store, _options); end

          # @return [ActiveSupport::Cache::Store] that raises where it could not serve
          attr_reader :store

          # @param store [ActiveSupport::Cache::Store]
          # @param _own [Boolean] does only LarderStore use its connections?
          def initialize(store, _own)
            @store = store
          end

          # @return [Array<Class>] that mean that the store could not serve
          def errors
            [SystemCallError, IOError]
          end

          # @return [String, nil] which servers it is on (see Servers); nil: that is not known
          def servers; end

          # @return [Boolean] does it leave a key as it is that is {ORDINARY}, but for a namespace?
          def plain_names?
            false
          end

          # @return [Boolean] may some of its servers answer while others do not?
          def several?
            false
          end

          # @return [Boolean] does it delete several keys by one command, all at the same moment?
          def at_once?
            false
          end

          # Deletes entries, others before them.
          #
          # @param before [Array<String>]
          # @param names [Array<String>]
          # @return [Integer] how many of the names were there
          def delete(before, names)
            return [delete_all(before + names), names.size].min if at_once?

            delete_all(before) if before.any?
            delete_all(names)
          end

          # @param seconds [Float] that an entry is to be kept
          # @return [Numeric] as the store takes them
          def ttl(seconds)
            [seconds, 0.001].max
          end

          # @return [Boolean] does {#find} find bytes of Rails' coder, which are not signed?
          def bytes?
            false
          end

          # @return [Boolean] does only a read with raw: find a counter?
          def raw_counters?
            false
          end

          # @param keys [Array<String>]
          # @param names [Array<String>] the same as the store has them
          # @return [Hash{String=>Object}] what is there, by the keys, for {#entries_of}
          def find(keys, names, raw)
            by_key(keys, names.map { |name| @store.send(:read_entry, name, **(raw ? { raw: true } : {})) })
          end

          # @param found [Hash{String=>Object}] as of {#find}
          # @return [Hash{String=>ActiveSupport::Cache::Entry}] also entries that have expired
          def entries_of(found, _raw)
            found
          end

          private

          def delete_all(names)
            @store.send(:delete_multi_entries, names).to_i
          end

          # @param found [Array<Object, nil>] in the order of the keys
          def by_key(keys, found)
            keys.zip(found).to_h.compact
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
          # Classes and modules whose private methods are known.
          KNOWN = /\A(ActiveSupport::Cache::(Store|RedisCacheStore|MemCacheStore)|SolidCache::Store.*)\z/
          private_constant :KNOWN

          # The given store stays as it is: the application may use it, too.
          def initialize(store, own)
            super(store.clone.extend(Raising), own)
          end

          def plain_names?
            known?(:normalize_key)
          end

          def bytes?
            return @bytes unless @bytes.nil?

            coder = @store.instance_variable_get(:@coder)
            @bytes = coder.is_a?(ActiveSupport::Cache::Coder) && known?(:deserialize_entry) &&
                     !(coder.is_a?(Larder::Coder) && coder.signed?)
          end

          def raw_counters?
            true
          end

          # @param found [Hash{String=>String}] bytes as the store has them
          def entries_of(found, raw)
            found.transform_values do |bytes|
              @store.send(:deserialize_entry, bytes, **(raw ? { raw: raw } : {}))
            end.compact
          end

          private

          # @param name [Symbol] of the store's variable with its client or pool of clients
          # @return [Connections]
          def hold(name)
            clients = @store.instance_variable_get(name)
            shared = !clients.is_a?(ConnectionPool)
            held = Connections.new(clients, shared: shared, errors: errors, close: method(:close))
            @store.instance_variable_set(name, held)
          end

          def known?(method)
            KNOWN.match?(@store.method(method).owner.name)
          end
        end

        # RedisCacheStore: Redis, Valkey, or a cluster. Its client is one of the gem redis, or of redis-client.
        #
        # While a server hangs, or is gone, not every call waits for it: after six errors of connections in ten seconds,
        # more than those of a pool whose server was started again, no call is made for two, and then for trial.
        class Redis < Server
          BREAKER = { error_threshold: 6, error_threshold_timeout: 10, error_timeout: 2, success_threshold: 1 }.freeze
          private_constant :BREAKER

          # One for all connections to one server. With the gem redis before 5, there is none.
          def self.defaults(_arguments, options)
            return {} if options.key?(:redis) || Array(options[:url]).size > 1

            require "redis-client"
            { circuit_breaker: RedisClient::CircuitBreaker.new(**BREAKER) }
          rescue LoadError
            {}
          end

          # Its client, which connects later, is otherwise made by the first call. One of a block may connect.
          def self.check(store, options)
            store.redis.then { nil } unless options.key?(:redis)
          end

          def initialize(store, own)
            super
            @store.extend(RedisCluster)
            hold(:@redis) if holdable?
          end

          def errors
            [*(::Redis::BaseError if defined?(::Redis::BaseError)), *(::RedisClient::Error if defined?(::RedisClient)),
             ConnectionPool::Error, ConnectionPool::TimeoutError]
          end

          def servers
            @store.redis.then { |client| Servers.of_redis(client) }
          end

          def at_once?
            @at_once = !several? if @at_once.nil?
            @at_once
          end

          def several?
            @store.redis.then do |client|
              RedisCluster.client?(client) || (client.respond_to?(:nodes) && client.nodes.size > 1)
            end
          end

          def find(keys, names, _raw)
            by_key(keys, @store.redis.then { |client| values(client, names) })
          end

          private

          # A client of redis-client alone has a pool, which gives each call another connection.
          def holdable?
            [ConnectionPool, *(::Redis if defined?(::Redis)), *(::Redis::Distributed if defined?(::Redis::Distributed))]
              .any? { |type| @store.redis.is_a?(type) }
          end

          def close(client)
            client.respond_to?(:close) ? client.close : client.nodes.each(&:close)
          end

          # @return [Array<String, nil>]
          def values(client, names)
            return RedisCluster.values(client, names) if RedisCluster.client?(client)
            return client.mget(*names) if client.respond_to?(:mget)

            found = client.nodes_for(names).map do |node, keys|
              keys.zip(node.call("MGET", *keys)).to_h
            end.reduce({}, :merge)
            found.values_at(*names)
          end
        end

        # MemCacheStore.
        #
        # With failover, Dalli's default, a key of a server that does not answer goes to another one, and so does its
        # delete. The first has the old value when it is back. Without, an error says so.
        class Memcached < Server
          # Before Ruby 3.2, Dalli waits without end for a server that hangs, with the protocol :meta.
          META = IO.method_defined?(:timeout=)
          # The address of a server with a password. The protocol :meta has no passwords.
          PASSWORD = %r{\Amemcached://[^/]*@}
          BINARY = "remote: of LarderStore is a MemCacheStore with Dalli's binary protocol. After a Timeout around " \
                   "another call of its connections it may answer with the value of another key; give LarderStore " \
                   "connections of its own: remote: [:mem_cache_store, …#{", { protocol: :meta }" if META}]".freeze
          private_constant :META, :PASSWORD, :BINARY

          def self.defaults(addresses, options)
            passwords = options[:username] || ENV["MEMCACHE_USERNAME"] || addresses.flatten.grep(PASSWORD).any?
            { failover: false, **(META && !passwords ? { protocol: :meta } : {}) }
          end

          # @raise [ArgumentError] with failover among several servers
          def initialize(store, own)
            super
            @data = @store.instance_variable_get(:@data)
            client do |client|
              refuse_failover(client.send(:ring))
              report_binary(client.send(:ring).servers.first, own)
            end
            @data = hold(:@data)
          end

          def errors
            [Dalli::DalliError, ConnectionPool::Error, ConnectionPool::TimeoutError]
          end

          def servers
            client { |client| Servers.of_memcached(client) }
          end

          def several?
            client { |client| client.send(:ring).servers.size > 1 }
          end

          # It counts whole seconds, and takes 0 for never.
          def ttl(seconds)
            [seconds.ceil, 1].max
          end

          # Dalli answers without the keys of servers that do not answer.
          #
          # @raise [Dalli::RingError] all that would be found is on such servers
          def find(keys, names, _raw)
            found = client do |client|
              client.get_multi(names).tap do |values|
                names.each { |name| client.send(:ring).server_for_key(name) } if values.empty?
              end
            end
            by_key(keys, found.values_at(*names))
          end

          private

          def client(&block)
            @data.with(&block)
          end

          def refuse_failover(ring)
            return unless ring.servers.size > 1 && ring.instance_variable_get(:@failover)

            raise ::ArgumentError, "remote: of LarderStore is a MemCacheStore of several servers with failover, so " \
                                   "what was deleted is there again when its server is back; give it failover: false"
          end

          # Where there is a better one, or others use the connections.
          def report_binary(server, own)
            return if server.class.name.end_with?("::Meta") || (own && (!META || server.require_auth?))

            Reports.report(RemoteError.new(BINARY), source: Failsafe::SOURCE)
          end

          # Its servers stay as they are: one that is down is not tried again before its time.
          def close(client)
            client.send(:ring).servers.each do |server|
              release(server)
              server.close
            end
          end

          # Dalli takes the locks of all servers before it reads many keys. If it is interrupted there, it keeps them.
          def release(server)
            loop { server.unlock! } if server.is_a?(Dalli::Threadsafe)
          rescue ThreadError
            nil # this thread has it no longer
          end
        end

        # Solid Cache, on whatever database.
        class SolidCache < Server
          def errors
            [ActiveRecord::ActiveRecordError]
          end

          def servers
            Servers.of_solid_cache(@store.shard_options&.map(&:to_sym))
          end

          def several?
            @store.connections.names.size > 1
          end

          def at_once?
            !several?
          end

          def find(keys, names, _raw)
            by_key(keys, @store.send(:read_serialized_entries, names).values_at(*names))
          end
        end

        # FileStore.
        class Files < Any
          def servers
            File.expand_path(@store.cache_path)
          end
        end

        # Of a store in the memory of a process, which no other process can read.
        class Private < Any
          PROCESS = SecureRandom.hex(8)
          private_constant :PROCESS

          def servers
            "#{PROCESS} #{Process.pid} #{@store.object_id}"
          end
        end

        # By the names of classes, which need not be loaded.
        NAMES = { "ActiveSupport::Cache::RedisCacheStore" => Redis,
                  "ActiveSupport::Cache::DeprecatedRedisCacheStore" => Redis, # of Rails 8.2, with the gem redis
                  "ActiveSupport::Cache::MemCacheStore" => Memcached, "SolidCache::Store" => SolidCache,
                  "ActiveSupport::Cache::FileStore" => Files, "ActiveSupport::Cache::MemoryStore" => Private,
                  "ActiveSupport::Cache::NullStore" => Private }.freeze
        # The same of stores that LarderStore makes.
        MADE = { mem_cache_store: Memcached, redis_cache_store: Redis }.freeze
        private_constant :NAMES, :MADE

        # @param name [Symbol, Class] of a store, as of config.cache_store
        # @param arguments [Array<Object>] that are given
        # @param options [Hash] that are given
        # @return [Hash{Symbol=>Object}] the options and the defaults of others
        def self.with_defaults(name, arguments, options)
          { **MADE.fetch(name, Any).defaults(arguments, options), **options }
        end

        # @param name [Symbol, Class] (see .with_defaults)
        # @param store (see Any.check)
        # @param options (see Any.check)
        # @raise (see Any.check)
        def self.check(name, store, options)
          MADE.fetch(name, Any).check(store, options)
        end

        # @param own [Boolean] does only LarderStore use its connections?
        # @return [Any] the adapter of a store
        def self.of(store, own)
          name = store.class.ancestors.map(&:name).find { |ancestor| NAMES.key?(ancestor) }
          NAMES.fetch(name, Any).new(store, own)
        end
      end
    end
  end
end
