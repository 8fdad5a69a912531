# frozen_string_literal: true

module Larder
  module Lab
    module Sessions
      module Stores
        # ActionDispatch's CacheStore over a cache of its own, which {#cache} names.
        class InCache < Store
          # @return [Symbol]
          def name
            :larder_lab_cache_store
          end

          # @return [Hash{Symbol=>Object}]
          def options
            { within: cache, **(apart? ? { expire_after: EXPIRY } : {}) }
          end

          # @return [Array<String>]
          def definitions
            [File.expand_path("../definitions/cache_store.rb", __dir__)]
          end

          private

          # What `ActiveSupport::Cache.lookup_store` takes.
          def cache
            raise NotImplementedError, "#{self.class} does not say in which cache"
          end
        end
      end
    end
  end
end
