# frozen_string_literal: true

# Defines `config.session_store :larder_lab_cache_store, within: [NAME, ...]`: session stores over a cache of their
# own. Rails' CacheStore takes an object, which no configuration in plain data can name.

require "action_dispatch"
require "action_dispatch/middleware/session/cache_store"
require "active_support/cache"

module Larder
  module Lab
    module Sessions
      # As much of a cache as CacheStore asks for: a Hash that all sessions of the process are in.
      class HashCache
        # @return [HashCache] the one of this process
        def self.instance
          @instance ||= new
        end

        def initialize
          @values = {}
        end

        # @return [Hash]
        def options
          {}
        end

        # @param key [String]
        # @return [Hash, nil]
        def read(key)
          @values[key]
        end

        # @param key [String]
        # @return [Boolean]
        def exist?(key)
          @values.key?(key)
        end

        # @param key [String]
        # @param value [Hash]
        # @return [true]
        def write(key, value, **)
          @values[key] = value
          true
        end

        # @param key [String]
        # @return [Boolean]
        def delete(key)
          !@values.delete(key).nil?
        end
      end
    end
  end
end

module ActionDispatch
  module Session
    # CacheStore over what `within:` says.
    class LarderLabCacheStore < CacheStore
      # @param app [#call]
      # @param options [Hash{Symbol=>Object}]
      def initialize(app, options = {})
        options = options.dup
        super(app, options.merge(cache: cache(*options.delete(:within))))
      end

      private

      def cache(name, *arguments)
        return ::Larder::Lab::Sessions::HashCache.instance if name == "hash"

        *rest, last = arguments
        last = last.symbolize_keys if last.is_a?(Hash)
        last = last.merge(error_handler: method(:fail_loudly)) if name == "redis_cache_store"
        ActiveSupport::Cache.lookup_store(name.to_sym, *rest, last)
      end

      # Rails takes a lost connection for a lost session, which would be measured.
      def fail_loudly(method:, returning:, exception:)
        raise exception.class, "#{method} would have answered #{returning.inspect}: #{exception.message}"
      end
    end
  end
end
