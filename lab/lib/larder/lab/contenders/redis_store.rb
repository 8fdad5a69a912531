# frozen_string_literal: true

require_relative "server_store"

module Larder
  module Lab
    module Contenders
      # Redis through `config.cache_store = :redis_cache_store`, with the gem's default driver and Rails' default pool;
      # and the servers that speak its protocol, through the same client and store.
      class RedisStore < ServerStore
        named "redis", "Redis through :redis_cache_store", gems: { "redis" => ">= 4.0.1" }, server: "redis"

        row "valkey", "Valkey through :redis_cache_store", server: "valkey"
        row "dicedb", "DiceDB through :redis_cache_store", server: "dicedb"
        row "dragonfly", "Dragonfly through :redis_cache_store", server: "dragonfly"

        # As applications have it that name a host and a port. The Unix socket of the other is faster.
        row "redis-loopback", "Redis through :redis_cache_store, over TCP on 127.0.0.1", server: "redis-loopback",
                                                                                         on_request: true

        # With the driver that parses answers in C.
        row("redis-hiredis", "Redis through :redis_cache_store, with the driver hiredis") do
          declares gems: { "redis" => ">= 5.0", "hiredis-client" => nil }, bundle: "hiredis", on_request: true

          private

          def load_code
            require "hiredis-client"
            super
          end

          def client_options = { driver: :hiredis }
        end

        private

        # Rails would take a server that is not there for an empty cache.
        def load_code
          require "redis"
          ::Redis.new(url: endpoint["url"], reconnect_attempts: 0, **client_options).tap(&:ping).close
        rescue ::Redis::BaseError => error
          raise Unavailable, "no answer from #{shown(endpoint["url"])}: #{error.message}"
        end

        def open_store = lookup(:redis_cache_store, { **options, error_handler: method(:fail_loudly) })

        def options = { url: endpoint["url"], **super }
      end
    end
  end
end
