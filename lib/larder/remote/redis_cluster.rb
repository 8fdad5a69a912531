# frozen_string_literal: true

# What RedisCacheStore does otherwise if its client is one of a Redis Cluster, whose nodes have different keys.

require "concurrent/map"

module Larder
  module Remote
    # Extends a RedisCacheStore. One command with many keys is refused by a cluster if their slots differ, unless the
    # client splits it. Clients of clusters do so for some commands, and not if the first key has a hash tag. So each
    # key gets a command here.
    #
    # A command for all nodes is sent to those that the client knows. It forgets a node that does not answer, and the
    # command succeeds without that node, which has its keys when it is back. So all nodes have to answer before and
    # after it.
    # @api private
    module RedisCluster
      # Keys of one SCAN.
      BATCH = 1000
      # What keys begin with that are asked for to find out whether their nodes answer.
      PROBE = "larder/probe/"
      # By the names of classes, which need not be loaded. Without its gem, `Redis::Cluster` is a module of commands.
      CLIENTS = %w[Redis::Cluster RedisClient::Cluster].freeze
      # Is a class that of such a client?
      KINDS = Concurrent::Map.new
      private_constant :BATCH, :PROBE, :CLIENTS, :KINDS

      # @param client [Object] as RedisCacheStore has it
      # @return [Boolean]
      def self.client?(client)
        KINDS.compute_if_absent(client.class) do
          client.class.ancestors.any? { |ancestor| CLIENTS.include?(ancestor.name) }
        end
      end

      # @param client [Redis::Cluster, RedisClient::Cluster]
      # @return [Array<String, nil>] values in the order of the keys
      def self.values(client, keys)
        client.pipelined { |pipeline| keys.each { |key| pipeline.call("GET", key) } }
      end

      # @param client [Redis::Cluster, RedisClient::Cluster]
      # @return [Integer] how many keys were there
      def self.delete(client, keys)
        client.pipelined { |pipeline| keys.each { |key| pipeline.call("DEL", key) } }.sum
      end

      # Asks each node for a key.
      #
      # @raise [Redis::BaseError, RedisClient::Error] one does not answer
      # @return [void]
      def self.ask_all(client)
        ranges = client.call("CLUSTER", "SLOTS").map { |first, last, (_, _, id)| [first..last, id] }
        waiting = ranges.map(&:last).uniq
        keys = (0..).lazy.map { |number| "#{PROBE}#{number}" }.select do |key|
          slot = ::RedisClient::Cluster::KeySlotConverter.convert(key)
          waiting.delete(ranges.find { |range, _| range.cover?(slot) }&.last)
        end
        values(client, keys.first(waiting.size))
      end

      # As Rails'.
      def clear(options = nil)
        on_all_nodes { super }
      end

      # As Rails'.
      def delete_matched(matcher, options = nil)
        on_all_nodes do |client|
          next super unless client && matcher.is_a?(String)

          delete_scanned(client, namespace_key(matcher, options))
        end
      end

      private

      # Yields the client of a cluster, or nothing.
      def on_all_nodes
        redis.then do |client|
          next yield unless RedisCluster.client?(client)

          RedisCluster.ask_all(client)
          yield(client).tap { RedisCluster.ask_all(client) }
        end
      end

      def delete_scanned(client, pattern)
        cursor = "0"
        loop do
          cursor, keys = client.call("SCAN", cursor, "MATCH", pattern, "COUNT", BATCH)
          RedisCluster.delete(client, keys) if keys.any?
          break if cursor == "0"
        end
      end

      # Rails'.
      def delete_multi_entries(entries, **options)
        redis.then do |client|
          RedisCluster.client?(client) ? RedisCluster.delete(client, entries) : super(entries, **options)
        end
      end
    end
  end
end
