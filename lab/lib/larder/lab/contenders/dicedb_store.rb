# frozen_string_literal: true

require_relative "redis_store"

module Larder
  module Lab
    module Contenders
      # DiceDB through the same client and store as Redis: only the server differs.
      class DicedbStore < RedisStore
        named "dicedb", "DiceDB through :redis_cache_store"
        needs_gem "redis", ">= 4.0.1"
        needs_server "dicedb"
      end
    end
  end
end
