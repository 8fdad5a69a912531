# frozen_string_literal: true

require_relative "redis_store"

module Larder
  module Lab
    module Contenders
      # Valkey through the same client and store as Redis: only the server differs.
      class ValkeyStore < RedisStore
        named "valkey", "Valkey through :redis_cache_store"
        needs_gem "redis", ">= 4.0.1"
        needs_server "valkey"
      end
    end
  end
end
