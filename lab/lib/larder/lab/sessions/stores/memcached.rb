# frozen_string_literal: true

module Larder
  module Lab
    module Sessions
      module Stores
        # memcached through ActionDispatch's MemCacheStore, which is dalli's Rack::Session::Dalli.
        class MemcachedStore < Store
          named "memcached", "memcached: :mem_cache_store, by dalli"
          needs_gem "dalli", ">= 3.0.1"
          needs_server "memcached"
          bundled_apart "sessions"

          # @return [Symbol]
          def name
            :mem_cache_store
          end

          # A pool, because its own client serves one thread at a time.
          # @return [Hash{Symbol=>Object}]
          def options
            { memcache_server: endpoint["url"], pool_size: POOL,
              **(apart? ? { namespace: space, expire_after: EXPIRY } : {}) }
          end

          # @return [Hash{Symbol=>Object}]
          def recorded
            { store: name, options: options.merge(memcache_server: shown(endpoint["url"])) }
          end

          private

          # Dalli's sessions take a server that is not there for an empty one.
          def connect
            require "dalli"
            client = Dalli::Client.new(endpoint["url"])
            raise Unavailable, "no answer from #{shown(endpoint["url"])}" unless client.stats.values.all?

            client.close
          end
        end
      end
    end
  end
end
