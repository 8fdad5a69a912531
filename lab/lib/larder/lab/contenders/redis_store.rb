# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # Redis through `config.cache_store = :redis_cache_store`, with the gem's default driver and Rails' default pool.
      class RedisStore < Contender
        named "redis", "Redis through :redis_cache_store"
        needs_gem "redis", ">= 4.0.1"
        needs_server "redis"

        # A private server is flushed. On a server of the user's nothing is deleted: the lab writes under a new
        # namespace instead, and its keys expire after five minutes.
        def clear
          return super if endpoint["private"]

          endpoint["namespace"] = fresh_namespace
          @store = open_store
        end

        private

        # Rails would take a server that is not there for an empty cache.
        def load_code
          require "redis"
          ::Redis.new(url: endpoint["url"], reconnect_attempts: 0, **client_options).tap(&:ping).close
        rescue ::Redis::BaseError => error
          raise Unavailable, "no answer from #{shown(endpoint["url"])}: #{error.message}"
        end

        # Overridden where the client is told more than where its server is.
        def client_options
          {}
        end

        def open_store
          options = server_options
          lookup(:redis_cache_store, { **options, error_handler: method(:fail_loudly) }).tap do
            @recorded[:arguments] = [options.merge(url: shown(endpoint["url"]))]
          end
        end

        def server_options
          options = { url: endpoint["url"], **client_options }
          options[:namespace] = endpoint["namespace"] ||= fresh_namespace unless endpoint["private"]
          options
        end

        def fresh_namespace
          @generation = @generation.to_i + 1
          "larder-lab:#{Process.pid}:#{@generation}"
        end
      end
    end
  end
end
