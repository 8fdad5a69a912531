# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # memcached through `config.cache_store = :mem_cache_store` and dalli, with Rails' default pool.
      class MemcachedStore < Contender
        named "memcached", "memcached through :mem_cache_store and dalli"
        needs_gem "dalli", ">= 3.0.1"
        needs_server "memcached"

        # A private server is flushed. A server of the user's is not: the lab writes under a new namespace instead,
        # and its keys expire after five minutes.
        def clear
          return super if endpoint["private"]

          endpoint["namespace"] = fresh_namespace
          @store = open_store
        end

        private

        # Rails would take a server that is not there for an empty cache.
        def load_code
          require "dalli"
          client = Dalli::Client.new(endpoint["url"], client_options)
          answered = client.stats.values.all?
          client.close
          raise Unavailable, "no answer from #{shown(endpoint["url"])}" unless answered
        end

        # Overridden where dalli is told more than where its server is.
        def client_options
          {}
        end

        def open_store
          options = client_options
          options[:namespace] = endpoint["namespace"] ||= fresh_namespace unless endpoint["private"]
          lookup(:mem_cache_store, endpoint["url"], options).tap do
            @recorded[:arguments] = [shown(endpoint["url"]), options]
          end
        end

        def fresh_namespace
          @generation = @generation.to_i + 1
          "larder-lab:#{Process.pid}:#{@generation}"
        end
      end
    end
  end
end
