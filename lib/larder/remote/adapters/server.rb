# frozen_string_literal: true

# The common part of the adapters of stores on servers.

require "larder/remote/adapters/any"
require "larder/remote/connections"

module Larder
  module Remote
    module Adapters
      # Replaces the methods that rescue errors in these stores.
      module Raising
        private

        # Replaces that of RedisCacheStore and Solid Cache.
        def failsafe(_method, **)
          yield
        end

        # Replaces that of MemCacheStore.
        def rescue_error_with(_fallback)
          yield
        end
      end

      # Serves a store on a server.
      class Server < Any
        # Classes and modules with private methods that are known.
        KNOWN = /\A(ActiveSupport::Cache::(Store|RedisCacheStore|MemCacheStore)|SolidCache::Store.*)\z/
        private_constant :KNOWN

        # The given store stays as it is: the application may use it, too.
        def initialize(store, own)
          super(store.clone.extend(Raising), own)
        end

        def plain_names?
          known?(:normalize_key)
        end

        def bytes?
          return @bytes unless @bytes.nil?

          coder = @store.instance_variable_get(:@coder)
          @bytes = coder.is_a?(ActiveSupport::Cache::Coder) && known?(:deserialize_entry) &&
                   !(coder.is_a?(Larder::Coder) && coder.signed?)
        end

        def raw_counters?
          true
        end

        # @param found [Hash{String=>String}] bytes as the store has them
        def entries_of(found, raw)
          found.transform_values do |bytes|
            @store.send(:deserialize_entry, bytes, **(raw ? { raw: raw } : {}))
          end.compact
        end

        private

        # @param name [Symbol] of the store's variable with its client or pool of clients
        # @return [Connections]
        def hold(name)
          clients = @store.instance_variable_get(name)
          shared = !clients.is_a?(ConnectionPool)
          held = Connections.new(clients, shared: shared, errors: errors, close: method(:close))
          @store.instance_variable_set(name, held)
        end

        def known?(method)
          KNOWN.match?(@store.method(method).owner.name)
        end
      end
    end
  end
end
