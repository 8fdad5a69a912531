# frozen_string_literal: true

require_relative "larder_redis_store"

module Larder
  module Lab
    module Contenders
      # The same with a backplane, which tells machines of changes on others.
      class LarderRedisBackplaneStore < LarderRedisStore
        named "larder-redis-backplane", "Larder in front of Redis, which is the backplane, too (backplane:)"
        needs_gem "redis", ">= 4.0.1"
        needs_server "redis"
        only_on_request

        # Seconds after which a backplane that does not answer is an error.
        PATIENCE = 10
        private_constant :PATIENCE

        # @return [Float] (see LarderRedisStore#bound), whatever fails
        def bound
          60.0
        end

        private

        def sharing
          { backplane: endpoint["url"] }
        end

        # The first call begins to listen.
        def open_store
          store = super
          limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
          until store.read("joined").nil? && store.stats[:remote][:trusted]
            raise Invalid, "its backplane is silent" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit

            sleep 0.005
          end
          store
        end
      end
    end
  end
end
