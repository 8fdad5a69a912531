# frozen_string_literal: true

require_relative "redis_store"

module Larder
  module Lab
    module Contenders
      # Dragonfly through the same client and store as Redis: only the server differs.
      class DragonflyStore < RedisStore
        named "dragonfly", "Dragonfly through :redis_cache_store"
        needs_gem "redis", ">= 4.0.1"
        needs_server "dragonfly"
      end
    end
  end
end
