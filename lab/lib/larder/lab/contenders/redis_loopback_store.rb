# frozen_string_literal: true

require_relative "redis_store"

module Larder
  module Lab
    module Contenders
      # Redis over TCP, as applications have it that name a host and a port. The Unix socket of the other is faster.
      class RedisLoopbackStore < RedisStore
        named "redis-loopback", "Redis through :redis_cache_store, over TCP on 127.0.0.1"
        needs_gem "redis", ">= 4.0.1"
        needs_server "redis-loopback"
        only_on_request
      end
    end
  end
end
