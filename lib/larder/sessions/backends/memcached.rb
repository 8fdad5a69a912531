# frozen_string_literal: true

# Keeps sessions in memcached without Marshal, which the client calls for each value whose flags say so.

require "active_support/cache/mem_cache_store"

module Larder
  module Sessions
    module Backends
      # As Rails' store, which sets the client's serializer to Marshal after all options.
      class Memcached < ActiveSupport::Cache::MemCacheStore
        # In place of Marshal. Sessions are written raw, so none comes here.
        module Refusing
          # @return [nil] there is no such value
          def self.load(_bytes); end

          # @raise [TypeError]
          def self.dump(value)
            raise TypeError, "sessions are kept as Strings, not as a #{value.class}"
          end
        end

        # @return [String] of Rails' store, which users know from their options
        def self.name
          superclass.name
        end

        # @param addresses [Array] as Rails' store takes them, the client's options last
        # @return [Dalli::Client, ConnectionPool]
        def self.build_mem_cache(*addresses)
          options = addresses.flatten.grep(Hash).reduce({}, :merge)
          super(*addresses.flatten.grep_v(Hash), { **options, serializer: Refusing })
        end
      end
    end
  end
end
