# frozen_string_literal: true

# Redis, Valkey and clusters of them as second levels.

require "larder/remote/adapters/redis_leases"
require "larder/remote/adapters/server"
require "larder/remote/redis_cluster"
require "larder/remote/redis_glob"
require "larder/remote/servers"

module Larder
  module Remote
    module Adapters
      # RedisCacheStore: Redis, Valkey, or a cluster. Its client is one of the gem redis, or of redis-client.
      class Redis < Server
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

        def refused?(error)
          [*(::Redis::CommandError if defined?(::Redis::CommandError)),
           *(::RedisClient::CommandError if defined?(::RedisClient))].any? { |type| error.is_a?(type) }
        end

        def servers
          @store.redis.then { |client| Servers.of_redis(client) }
        end

        def at_once?
          @at_once = !several? if @at_once.nil?
          @at_once
        end

        def leases
          return @leases if defined?(@leases)

          @leases = (RedisLeases.new(@store, errors) if at_once? && as_rails?)
        end

        def writes_and_finds?
          return @writes_and_finds unless @writes_and_finds.nil?

          @writes_and_finds = at_once? && as_rails?
        end

        # Reads entries and then writes others, by one pipeline.
        #
        # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] that are written, by name
        # @param terms [Hash] expires_in, or nothing
        # @param keys [Array<String>]
        # @param names [Array<String>] the same as the store has them
        # @return [Hash{String=>Object}] what was there, as of {#find}
        def write_and_find(entries, terms, keys, names)
          life = terms[:expires_in] ? ["PX", (terms[:expires_in] * 1000).ceil] : []
          writes = entries.map { |name, entry| ["SET", name, @store.send(:serialize_entry, entry, **terms), *life] }
          by_key(keys, pipelined(names.first, [["MGET", *names], *writes]).first)
        end

        # Sends one pipeline, whose last answer counts the names alone.
        def delete(before, names)
          return super if before.empty? || !at_once?

          pipelined(names.first, [["DEL", *before], ["DEL", *names]]).last
        end

        def matches?(pattern)
          pattern.is_a?(String)
        end

        def literal(text)
          RedisGlob.literal(text)
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

        # Sends commands to one server.
        #
        # @param name [String] of an entry that it has
        # @return [Array<Object>] the answers
        def pipelined(name, commands)
          @store.redis.then do |client|
            node = client.respond_to?(:node_for) ? client.node_for(name) : client
            node.pipelined { |line| commands.each { |command| line.call(*command) } }
          end
        end

        # @return [Boolean] true if no method of the application reads or writes entries
        def as_rails?
          %i[read_entry write_entry serialize_entry deserialize_entry].all? { |method| known?(method) }
        end

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
    end
  end
end
