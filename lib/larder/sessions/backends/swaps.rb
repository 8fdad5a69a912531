# frozen_string_literal: true

# Methods of the stores that machines share, which Rails has not: compare-and-swap, and on Redis a list of names, and
# many counters by one trip. The store's server compares, so no lock is needed, and a process that was stopped in
# between changes nothing afterwards.

require "larder/remote/redis_cluster"
require "larder/remote/redis_glob"
require "larder/remote/redis_script"

module Larder
  module Sessions
    module Backends
      # `cas` and `cas_multi`, as LarderStore calls them in the store of its `remote:`. Names are as the store has them,
      # and values are raw Strings. The block gets the value and returns another one. `throw` changes nothing.
      module Swaps
        # Extends a RedisCacheStore: on Redis, Valkey, or a cluster of them.
        module Redis
          # Replaces a value, unless it has changed.
          SCRIPT = ::Larder::Remote::RedisScript.new(<<~LUA)
            if redis.call("GET", KEYS[1]) ~= ARGV[1] then
              return 0
            end
            if ARGV[3] == "" then
              redis.call("SET", KEYS[1], ARGV[2])
            else
              redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])
            end
            return 1
          LUA
          # Names that it looks at in one call.
          SCANNED = 1000
          private_constant :SCRIPT, :SCANNED

          # @param name [String]
          # @param options [Hash] expires_in: seconds to live
          # @yieldparam value [String]
          # @yieldreturn [String]
          # @return [Boolean, nil] false: it has changed in between; nil: there is none
          def cas(name, options)
            value = node_of(name) { |node| node.respond_to?(:get) ? node.get(name) : node.call("GET", name) }
            return if value.nil?

            life = options[:expires_in]
            arguments = [value, yield(value), life ? (life * 1000).ceil.to_s : ""]
            node_of(name) { |node| SCRIPT.call(node, [name], arguments) } == 1
          end

          # @param changes [Hash{String => Array(Integer, Integer)}] what is added to each counter, and seconds to live
          # @return [void]
          def count_all(changes)
            redis.then do |client|
              changes.group_by { |name, _| client.respond_to?(:node_for) ? client.node_for(name) : client }
                     .each { |node, some| node.pipelined { |line| some.each { |one| count_one(line, *one) } } }
            end
          end

          # Redis finds each name that is there all the time, and some of them twice.
          #
          # @param prefix [String]
          # @param step [Array(Integer, String), nil] as the call before has answered; nil: begin
          # @return [Array(Array<String>, Array(Integer, String))] names that begin so, and the next step; nil: there is
          #   none
          def scan(prefix, step)
            number, cursor = step || [0, "0"]
            pattern = "#{::Larder::Remote::RedisGlob.literal(prefix)}*"
            redis.then do |client|
              nodes = nodes_of(client)
              cursor, names = nodes[number].call("SCAN", cursor, "MATCH", pattern, "COUNT", SCANNED)
              number += 1 if cursor == "0"
              [names, ([number, cursor] if nodes[number])]
            end
          end

          private

          def count_one(line, name, (by, life))
            line.call("INCRBY", name, by)
            line.call("EXPIRE", name, life)
          end

          # A client of a cluster asks all nodes, if each of them answers.
          def nodes_of(client)
            return client.nodes if client.respond_to?(:nodes) && !::Larder::Remote::RedisCluster.client?(client)

            ::Larder::Remote::RedisCluster.ask_all(client) if ::Larder::Remote::RedisCluster.client?(client)
            [client]
          end

          # Clients of several servers choose the one of the key, or have such a method.
          def node_of(name)
            redis.then { |client| yield(client.respond_to?(:node_for) ? client.node_for(name) : client) }
          end
        end

        # Extends a MemCacheStore. memcached compares its token of the value. @data is read, as no method of the store
        # returns its client.
        module Memcached
          # @param (see Redis#cas)
          # @yieldparam (see Redis#cas)
          # @yieldreturn (see Redis#cas)
          # @return (see Redis#cas)
          def cas(name, options)
            value, token = @data.with { |client| client.get_cas(name) }
            return if value.nil?

            life = options[:expires_in]
            after = yield(value)
            !!@data.with { |client| client.set_cas(name, after, token, life ? life.ceil : 0, raw: true) }
          end
        end

        # Extends a SolidCache::Store. The database locks the row of the entry while it is changed.
        module SolidCache
          # @param (see Redis#cas)
          # @yieldparam (see Redis#cas)
          # @yieldreturn (see Redis#cas)
          # @return (see Redis#cas)
          def cas(name, options)
            swapped = nil
            entry_lock_and_write(name) do |payload|
              entry = deserialize_entry(payload)
              next if entry.nil? || entry.expired?

              after = ActiveSupport::Cache::Entry.new(yield(entry.value), **options.slice(:expires_in))
              swapped = serialize_entry(after)
            end
            swapped && true
          end
        end

        # Names of classes, which need not be loaded.
        KINDS = { "ActiveSupport::Cache::RedisCacheStore" => Redis,
                  "ActiveSupport::Cache::DeprecatedRedisCacheStore" => Redis, # of Rails 8.2, with the gem redis
                  "ActiveSupport::Cache::MemCacheStore" => Memcached, "SolidCache::Store" => SolidCache }.freeze
        private_constant :KINDS

        # @param store [ActiveSupport::Cache::Store]
        # @return [ActiveSupport::Cache::Store] the same; if it is of another kind, without these methods
        def self.extend_store(store)
          kind = KINDS.find { |name, _| store.class.ancestors.any? { |type| type.name == name } }&.last
          kind ? store.extend(kind, Several) : store
        end

        # One after the other.
        module Several
          # @param names [Array<String>]
          # @param options [Hash] as of cas
          # @yieldparam values [Hash{String => String}]
          # @yieldreturn [Hash{String => String}]
          # @return [Boolean] true: all were replaced
          def cas_multi(*names, **options)
            names.map { |name| cas(name, options) { |value| yield({ name => value }).fetch(name) } }.all?
          end
        end
      end
    end
  end
end
