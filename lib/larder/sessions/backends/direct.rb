# frozen_string_literal: true

# Reads and writes bytes in a Rails cache store, without its local cache of the request.

require_relative "calls"

module Larder
  module Sessions
    module Backends
      # A store that is the application's cache (Rails.cache) may have a local cache for each request. It would hide
      # changes of a session by other processes, so each call here has an empty one.
      #
      # Values are raw Strings, which Redis and memcached keep without a coder. Anything else is not Larder's.
      #
      # Every method raises {UnavailableError} if the store fails or is not called. The store has to raise its errors,
      # see {StoreBuilder}.
      class Direct
        # The longest TTL that is passed on. memcached refuses an entry that expires after January 2038.
        LONGEST = 5 * 366 * 86_400
        private_constant :LONGEST

        # @param store [ActiveSupport::Cache::Store]
        # @param calls [Calls]
        def initialize(store, calls = Calls.new(store.class.name))
          @store = store
          @calls = calls
          @local_cache = store.respond_to?(:with_local_cache)
        end

        # @param name [String]
        # @return [String, nil] bytes
        def read(name)
          bytes(direct { @store.read(name, raw: true) })
        end

        # @param names [Array<String>]
        # @return [Hash{String => String}] bytes of those that are there
        def read_multi(names)
          direct { @store.read_multi(*names, raw: true) }.transform_values { |value| bytes(value) }.compact
        end

        # @param name [String]
        # @param value [String]
        # @param options [Hash] of ActiveSupport::Cache::Store#write
        # @return [Boolean, nil]
        def write(name, value, expires_in: nil, **options)
          direct { put(name, value, raw: true, expires_in: limited(expires_in), **options) }
        end

        # A FileStore says of an expired entry that it exists, until it is read.
        #
        # @param name [String]
        # @param value [String]
        # @param ttl [Numeric, nil] seconds to live
        # @return [Boolean] false: there is one already, or it was not written
        def add(name, value, ttl)
          options = { expires_in: ttl, unless_exist: true }
          !!write(name, value, **options) || (read(name).nil? && !!write(name, value, **options))
        end

        # @param name [String]
        # @return [Boolean]
        def exist?(name)
          direct { @store.exist?(name, raw: true) }
        end

        # @param name [String]
        # @return [Boolean] was it there?
        def delete(name)
          direct { @store.delete(name) }
        end

        # Deletes an entry that expires soon.
        #
        # @param name [String]
        # @return [void]
        def release(name)
          delete(name)
        end

        private

        def limited(ttl)
          ttl && [ttl, LONGEST].min
        end

        def put(name, value, **options)
          @store.write(name, value, **options)
        end

        def bytes(value)
          value.b if value.is_a?(String)
        end

        def direct(&block)
          @calls.call { @local_cache ? @store.with_local_cache(&block) : yield }
        end
      end
    end
  end
end
