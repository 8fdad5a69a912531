# frozen_string_literal: true

require "action_dispatch"
require "action_dispatch/middleware/session/cache_store"
require "active_support/cache"

module ActionDispatch
  module Session
    # `config.session_store :larder_lab_cache_store, within: [NAME, ...]`: CacheStore over a cache of its own. That of
    # Rails takes an object, which no configuration in plain data can name.
    class LarderLabCacheStore < CacheStore
      def initialize(app, options = {})
        super(app, options.except(:within).merge(cache: cache(*options[:within])))
      end

      private

      def cache(name, last)
        last = last.symbolize_keys.merge(error_handler: method(:fail_loudly)) if name == "redis_cache_store"
        ActiveSupport::Cache.lookup_store(name.to_sym, last)
      end

      # Rails takes a lost connection for a lost session, which would be measured.
      def fail_loudly(method:, returning:, exception:)
        raise exception.class, "#{method} would have answered #{returning.inspect}: #{exception.message}"
      end
    end
  end
end
