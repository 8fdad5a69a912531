# frozen_string_literal: true

require_relative "server_store"

module Larder
  module Lab
    module Contenders
      # memcached through `config.cache_store = :mem_cache_store` and dalli, with Rails' default pool.
      class MemcachedStore < ServerStore
        named "memcached", "memcached through :mem_cache_store and dalli"
        needs_gem "dalli", ">= 3.0.1"
        needs_server "memcached"

        # The meta protocol, which replaces the binary one that dalli speaks unless told otherwise; from version 5 on
        # dalli speaks nothing else.
        row("memcached-meta", "memcached through :mem_cache_store and dalli, by the meta protocol") do
          only_on_request

          private

          def load_code
            super
            return if Dalli::VERSION.to_i < 5

            raise Unavailable, "dalli #{Dalli::VERSION} speaks nothing but the meta protocol: see the row memcached"
          end

          def client_options = { protocol: :meta }
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

        def open_store = lookup(:mem_cache_store, endpoint["url"], options)
      end
    end
  end
end
