# frozen_string_literal: true

# What differs between the stores that can be the second level: which errors they swallow, and how they read many
# entries.

require "larder/remote/adapters/any"
require "larder/remote/adapters/memcached"
require "larder/remote/adapters/redis"
require "larder/remote/adapters/solid_cache"

module Larder
  module Remote
    # Rails' stores on servers answer an error by a miss, and a delete that failed as one that found nothing.
    # LarderStore has to know the difference. So an adapter has its store raise.
    # @api private
    module Adapters
      # A key that all stores use as it is: neither long, nor with characters that one of them escapes.
      ORDINARY = /\A[!-$&-~]{1,100}\z/

      # By the names of classes, which need not be loaded.
      NAMES = { "ActiveSupport::Cache::RedisCacheStore" => Redis,
                "ActiveSupport::Cache::DeprecatedRedisCacheStore" => Redis, # of Rails 8.2, with the gem redis
                "ActiveSupport::Cache::MemCacheStore" => Memcached, "SolidCache::Store" => SolidCache,
                "ActiveSupport::Cache::FileStore" => Files, "ActiveSupport::Cache::MemoryStore" => Private,
                "ActiveSupport::Cache::NullStore" => Private }.freeze
      # The same of stores that LarderStore makes.
      MADE = { mem_cache_store: Memcached, redis_cache_store: Redis }.freeze
      private_constant :NAMES, :MADE

      # Extends a store that was made for one LarderStore, so that only that uses its connections.
      module Own; end

      # @param name [Symbol, Class] of a store, as of config.cache_store
      # @param arguments [Array<Object>] that are given
      # @param options [Hash] that are given
      # @return [Hash{Symbol=>Object}] the options and the defaults of others
      def self.with_defaults(name, arguments, options)
        { **MADE.fetch(name, Any).defaults(arguments, options), **options }
      end

      # @param name [Symbol, Class] (see .with_defaults)
      # @param store (see Any.check)
      # @param options (see Any.check)
      # @raise (see Any.check)
      def self.check(name, store, options)
        MADE.fetch(name, Any).check(store, options)
      end

      # @param own [Boolean] does only LarderStore use its connections?
      # @return [Any] the adapter of a store
      def self.of(store, own)
        name = store.class.ancestors.map(&:name).find { |ancestor| NAMES.key?(ancestor) }
        NAMES.fetch(name, Any).new(store, own)
      end
    end
  end
end
