# frozen_string_literal: true

require_relative "server_store"

module Larder
  module Lab
    module Contenders
      # memcached through `config.cache_store = :mem_cache_store` and dalli, with Rails' default pool.
      class MemcachedStore < ServerStore
        named "memcached", "memcached through :mem_cache_store and dalli", gems: { "dalli" => ">= 3.0.1" },
                                                                           server: "memcached"

        private

        # Rails would take a server that is not there for an empty cache.
        def load_code
          require "dalli"
          client = Dalli::Client.new(endpoint["url"], client_options)
          answered = client.stats.values.all?
          client.close
          raise Unavailable, "no answer from #{shown(endpoint["url"])}" unless answered
        end

        def open_store = lookup(:mem_cache_store, endpoint["url"], options)
      end

      # memcached through dalli's own client, whose `fetch_with_lock` has one caller compute. Rails' store for memcached
      # does not call it.
      class MemcachedLockStore < MemcachedStore
        named "memcached-lock", "memcached through Dalli::Client#fetch_with_lock, without Rails' store",
              gems: { "dalli" => ">= 4.1" }, registry: SingleFlights

        # The calls of Rails' stores that the lab makes, made of dalli's. It counts in whole seconds: a value is fresh
        # for `expires_in`, and after that is served for `race_condition_ttl` while one caller computes.
        # @api private
        class Calls
          def initialize(client)
            @client = client
          end

          def fetch(name, expires_in: 60, race_condition_ttl: 0, &block)
            @client.fetch_with_lock(key(name), ttl: (expires_in + race_condition_ttl).ceil,
                                               recache_threshold: race_condition_ttl, &block)
          end

          def write(name, value, expires_in: 60, race_condition_ttl: 0)
            @client.set(key(name), value, (expires_in + race_condition_ttl).ceil)
          end

          def read(name) = @client.get(key(name))

          def delete(name) = @client.delete(key(name))

          def clear = @client.flush_all

          private

          def key(name) = ActiveSupport::Cache.expand_cache_key(name)
        end

        private

        # From version 5 on dalli speaks nothing but the meta protocol, and has no option for it.
        def client_options
          { silence_marshal_warning: true, protocol: (:meta if Dalli::VERSION.to_i < 5) }.compact
        end

        def open_store
          @recorded = { store: "Dalli::Client#fetch_with_lock", arguments: plain([endpoint["url"], options]) }
          Calls.new(Dalli::Client.new(endpoint["url"], options))
        end
      end
    end
  end
end
