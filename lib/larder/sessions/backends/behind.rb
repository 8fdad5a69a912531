# frozen_string_literal: true

# Calls the store behind a file through a circuit breaker, by the keys of the file.

require_relative "circuit_breaker"
require_relative "direct"
require_relative "store"

module Larder
  module Sessions
    module Backends
      # Has copies of the file's entries, and marks of what has ended. A mark is an entry beside the copy, is written
      # before the copy is deleted, and lives as long as any machine may have the session.
      #
      # Every method raises {CircuitBreaker::OpenError} if the store is not called, or fails.
      class Behind
        # After the name of a copy.
        ENDED = "/ended"
        private_constant :ENDED

        # @param store [ActiveSupport::Cache::Store]
        # @param breaker [#call] a CircuitBreaker
        def initialize(store, breaker)
          @store = Direct.new(store)
          @breaker = breaker
        end

        # @param key [String]
        # @return [String, nil] bytes
        def read(key)
          @breaker.call { @store.read(name(key)) }
        end

        # @param keys [Array<String>]
        # @return [Hash{String => String}] bytes of those that are there
        def read_multi(keys)
          names = keys.to_h { |key| [name(key), key] }
          @breaker.call { @store.read_multi(names.keys) }.transform_keys(names)
        end

        # @param key [String]
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @return [void]
        def write(key, bytes, ttl)
          put(name(key), bytes, ttl)
        end

        # @param key [String]
        # @return [Boolean] was it there?
        def delete(key)
          @breaker.call { @store.delete(name(key)) }
        end

        # @param key [String]
        # @return [Boolean]
        def exist?(key)
          @breaker.call { @store.exist?(name(key)) }
        end

        # @param key [String]
        # @param life [Numeric, nil] seconds for which a machine may have the session, nil: for ever
        # @return [Boolean] was there a copy?
        def end(key, life)
          put(name(key) + ENDED, "1", life)
          delete(key)
        end

        # @param key [String]
        # @return [Boolean]
        def ended?(key)
          @breaker.call { @store.exist?(name(key) + ENDED) }
        end

        private

        # As in a Store, so that an application may change from one to the other.
        def name(key)
          Store.name_of(key)
        end

        def put(name, bytes, ttl)
          @breaker.call do
            @store.write(name, bytes, expires_in: ttl) || raise(Error, "a copy of a session was not written")
          end
        end
      end
    end
  end
end
