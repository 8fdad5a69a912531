# frozen_string_literal: true

# Owns how sessions are read from a store of Rails' that remembers what a request has read.

module Larder
  module Sessions
    module Backends
      # Redis, memcached and the like remember for as long as a request what it has read, where they are the
      # application's cache (Rails.cache). What other processes have made of a session is to be seen at once: here each
      # call starts with nothing remembered.
      class Direct
        # @param store [ActiveSupport::Cache::Store]
        # @return [ActiveSupport::Cache::Store, Direct] the store itself where it remembers nothing
        def self.of(store)
          store.respond_to?(:with_local_cache) ? new(store) : store
        end

        # @param store [ActiveSupport::Cache::Store]
        def initialize(store)
          @store = store
        end

        %i[read write exist? delete].each do |name|
          define_method(name) do |*all, **options|
            @store.with_local_cache { @store.public_send(name, *all, **options) }
          end
        end
      end
    end
  end
end
