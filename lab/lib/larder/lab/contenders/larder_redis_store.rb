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

        # @param seconds [Float] how long a machine uses a copy without a backplane
        # @return [self] not yet opened
        def copies_for(seconds)
          @local_expires_in = seconds
          self
        end

        # @return [Float] seconds after which no answer is what was before a change on another machine
        def bound
          @local_expires_in || 5.0
        end

        private

        def load_code
          super
          require "active_support/cache/larder_store"
        rescue LoadError => error
          raise Unavailable, "larder cannot be loaded: #{error.message}"
        end

        def open_store
          remote = server_options
          options = { size: size, **sharing }
          store = lookup(:larder_store, path, { **options, remote: [:redis_cache_store, remote],
                                                           error_handler: method(:fail_loudly) })
          remote = remote.merge(url: shown(endpoint["url"]))
          @recorded[:arguments] = [path, { **options, remote: [:redis_cache_store, remote] }]
          store
        end

        # Options that decide how old a copy may be.
        def sharing
          { local_expires_in: @local_expires_in }.compact
        end

        def path
          File.join(dir, "cache.larder")
        end
      end
    end
  end
end
