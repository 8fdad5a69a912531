# frozen_string_literal: true

# The store that an assertion is about.

module Larder
  module TestHelper
    # Checks that the store is Larder's, and makes keys as it does.
    # @api private
    class Subject
      # @param cache [Object, nil] nil: Rails.cache
      # @raise [ArgumentError] names the remedy
      def initialize(cache)
        @store = cache.nil? ? Application.cache : cache
        return if Subject.larders?(@store)

        raise ArgumentError, "#{cache.nil? ? "Rails.cache" : "cache:"} is #{@store.class}, and Larder::TestHelper is " \
                             "for a Larder store: set config.cache_store = :larder_store in " \
                             "config/environments/#{Application.environment}.rb"
      end

      # @param store [Object]
      # @return [Boolean]
      def self.larders?(store)
        store.is_a?(ActiveSupport::Cache::LarderStore)
      end

      # @return [ActiveSupport::Cache::LarderStore]
      attr_reader :store

      # @return [ActiveSupport::Cache::LarderStore]
      # @raise [ArgumentError] a store is behind it
      def alone
        return store unless store.remote

        raise ArgumentError, "the cache has #{store.remote.store.class} behind it (remote:), which with_empty_cache " \
                             "cannot empty: leave out remote: in config/environments/#{Application.environment}.rb"
      end

      # @param options [Hash] of `exist?`
      # @return [Boolean]
      def cached?(name, options)
        store.exist?(name, **options)
      end

      # @return [Boolean] true if the key is there, in any version
      def cached_in_a_version?(name, options)
        store.exist?(key(name, options), namespace: nil)
      end

      # @return [String] in the file
      def key(name, options = {})
        store.send(:normalize_key, name, store.send(:merged_options, options))
      end
    end
  end
end
