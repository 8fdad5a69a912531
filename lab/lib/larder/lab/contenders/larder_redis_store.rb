# frozen_string_literal: true

require_relative "redis_store"

module Larder
  module Lab
    module Contenders
      # Larder as the local level in front of a Redis that several machines share.
      class LarderRedisStore < RedisStore
        named "larder-redis", "Larder in front of Redis (remote:)"
        needs_gem "redis", ">= 4.0.1"
        needs_server "redis"
        only_on_request

        private

        def load_code
          super
          require "active_support/cache/larder_store"
        rescue LoadError => error
          raise Unavailable, "larder cannot be loaded: #{error.message}"
        end

        def open_store
          remote = server_options
          store = lookup(:larder_store, path, { size: size, remote: [:redis_cache_store, remote],
                                                error_handler: method(:fail_loudly) })
          remote = remote.merge(url: shown(endpoint["url"]))
          @recorded[:arguments] = [path, { size: size, remote: [:redis_cache_store, remote] }]
          store
        end

        def path
          File.join(dir, "cache.larder")
        end
      end
    end
  end
end
