# frozen_string_literal: true

require_relative "memcached_store"

module Larder
  module Lab
    module Contenders
      # memcached through dalli's own client, whose `fetch_with_lock` has one caller compute. Rails' store for memcached
      # does not call it.
      class MemcachedLockStore < MemcachedStore
        registered_in SingleFlights
        named "memcached-lock", "memcached through Dalli::Client#fetch_with_lock, without Rails' store"
        needs_gem "dalli", ">= 4.1"
        needs_server "memcached"

        # The calls of Rails' stores that the lab makes, made of dalli's. It counts in whole seconds.
        class Calls
          # @param client [Dalli::Client] that threads share
          def initialize(client)
            @client = client
          end

          # @param name [Object] a key as Rails takes it
          # @param expires_in [Numeric] seconds for which the value is fresh
          # @param race_condition_ttl [Integer] seconds after that for which it is served while one caller computes
          # @return [Object] the value, the block's if this caller computes it
          def fetch(name, expires_in: 60, race_condition_ttl: 0, &block)
            @client.fetch_with_lock(key(name), ttl: (expires_in + race_condition_ttl).ceil,
                                               recache_threshold: race_condition_ttl, &block)
          end

          # @param name [Object]
          # @return [Object, nil]
          def read(name)
            @client.get(key(name))
          end

          # @param name [Object]
          # @param value [Object]
          # @return [Object] what dalli answers
          def write(name, value, expires_in: 60, race_condition_ttl: 0)
            @client.set(key(name), value, (expires_in + race_condition_ttl).ceil)
          end

          # @param name [Object]
          # @return [Boolean]
          def delete(name)
            @client.delete(key(name))
          end

          # Empties the server.
          # @return [void]
          def clear
            @client.flush_all
          end

          private

          def key(name)
            ActiveSupport::Cache.expand_cache_key(name)
          end
        end

        private

        # From version 5 on dalli speaks nothing but the meta protocol, and has no option for it.
        def client_options
          meta = Dalli::VERSION.to_i < 5 ? { protocol: :meta } : {}
          { silence_marshal_warning: true, **meta }
        end

        def open_store
          options = client_options
          options[:namespace] = endpoint["namespace"] ||= fresh_namespace unless endpoint["private"]
          @recorded = { store: "Dalli::Client#fetch_with_lock", arguments: [shown(endpoint["url"]), options] }
          Calls.new(Dalli::Client.new(endpoint["url"], options))
        end
      end
    end
  end
end
