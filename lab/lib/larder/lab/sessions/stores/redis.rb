# frozen_string_literal: true

require_relative "in_cache"

module Larder
  module Lab
    module Sessions
      module Stores
        # CacheStore over redis_cache_store: both are Rails' own and tested with each Rails, and sessions get the client
        # and the pool that its cache has. redis-session-store and redis-actionpack bring clients or stores beside it.
        class RedisStore < InCache
          named "redis", "Redis: CacheStore over :redis_cache_store"
          needs_gem "redis", ">= 4.0.1"
          needs_server "redis"
          bundled_apart "sessions"

          # @return [Hash{Symbol=>Object}]
          def recorded
            { store: name, options: options.merge(within: [cache.first, { url: shown(endpoint["url"]) }]) }
          end

          private

          # Rails would take a server that is not there for an empty one.
          def connect
            require "redis"
            ::Redis.new(url: endpoint["url"], reconnect_attempts: 0).tap(&:ping).close
          rescue ::Redis::BaseError => error
            raise Unavailable, "no answer from #{shown(endpoint["url"])}: #{error.message}"
          end

          def cache
            ["redis_cache_store", { url: endpoint["url"], **(apart? ? { namespace: space } : {}) }]
          end
        end
      end
    end
  end
end
