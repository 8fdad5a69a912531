# frozen_string_literal: true

require_relative "redis_store"

module Larder
  module Lab
    module Contenders
      # Redis with the driver that parses its answers in C.
      class RedisHiredisStore < RedisStore
        named "redis-hiredis", "Redis through :redis_cache_store, with the driver hiredis"
        needs_gem "redis", ">= 5.0"
        needs_gem "hiredis-client"
        needs_server "redis"
        bundled_apart "hiredis"
        only_on_request

        private

        def load_code
          require "hiredis-client"
          super
        end

        def client_options
          { driver: :hiredis }
        end
      end
    end
  end
end
