# frozen_string_literal: true

require_relative "larder_store"
require_relative "redis_store"

module Larder
  module Lab
    module Contenders
      # Larder as the local level in front of a Redis that several machines share.
      class LarderRedisStore < RedisStore
        include WithLarder

        named "larder-redis", "Larder in front of Redis (remote:)", on_request: true

        # @param seconds [Float] how long a machine uses a copy without a backplane
        # @return [self] not yet opened
        def copies_for(seconds)
          @local_expires_in = seconds
          self
        end

        # @return [Float] seconds after which no answer is what was before a change on another machine
        def bound = @local_expires_in || 5.0

        private

        def open_store
          lookup(:larder_store, File.join(dir, "cache.larder"),
                 { size: size, **sharing, remote: [:redis_cache_store, options], error_handler: method(:fail_loudly) })
        end

        # Options that decide how old a copy may be.
        def sharing = { local_expires_in: @local_expires_in }.compact
      end

      # The same with a backplane, which tells machines of changes on others.
      class LarderRedisBackplaneStore < LarderRedisStore
        include Clock

        named "larder-redis-backplane", "Larder in front of Redis, which is the backplane, too (backplane:)"

        # Seconds after which a backplane that does not answer is an error.
        PATIENCE = 10

        # @return [Float] (see LarderRedisStore#bound), whatever fails
        def bound = 60.0

        private

        def sharing = { backplane: endpoint["url"] }

        # The first call begins to listen.
        def open_store
          store = super
          limit = now + PATIENCE
          until store.read("joined").nil? && store.stats[:remote][:trusted]
            raise Invalid, "its backplane is silent" if now > limit

            sleep 0.005
          end
          store
        end
      end
    end
  end
end
