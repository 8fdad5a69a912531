# frozen_string_literal: true

# Owns what is asked of the store behind a file, by the keys of the file. It raises what a circuit breaker does.

require_relative "circuit_breaker"
require_relative "direct"
require_relative "store"

module Larder
  module Sessions
    module Backends
      # Copies of what the file has, and marks of what has ended: beside its copy a session has an entry "ended" for as
      # long as any machine may have it. It is written before the copy is deleted.
      class Behind
        # After the name of a session.
        ENDED = "/ended"
        private_constant :ENDED

        # @param store [ActiveSupport::Cache::Store]
        # @param breaker [CircuitBreaker]
        def initialize(store, breaker)
          @store = Direct.new(store)
          @breaker = breaker
        end

        # @param key [String]
        # @return [String, nil] bytes
        # @raise [CircuitBreaker::OpenError]
        def read(key)
          @breaker.call { @store.read(name(key)) }
        end

        # @param keys [Array<String>]
        # @return [Hash{String => String}] bytes of those that are there
        # @raise [CircuitBreaker::OpenError]
        def read_multi(keys)
          names = keys.to_h { |key| [name(key), key] }
          @breaker.call { @store.read_multi(names.keys) }.transform_keys(names)
        end

        # @param key [String]
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @return [void]
        # @raise [CircuitBreaker::OpenError]
        def write(key, bytes, ttl)
          put(name(key), bytes, ttl)
        end

        # @param key [String]
        # @return [Boolean] was it there?
        # @raise [CircuitBreaker::OpenError]
        def delete(key)
          @breaker.call { @store.delete(name(key)) }
        end

        # @param key [String]
        # @return [Boolean]
        # @raise [CircuitBreaker::OpenError]
        def exist?(key)
          @breaker.call { @store.exist?(name(key)) }
        end

        # @param key [String]
        # @param life [Numeric, nil] seconds for which a machine may have it, nil: for ever
        # @return [Boolean] was there a copy?
        # @raise [CircuitBreaker::OpenError]
        def end(key, life)
          put(name(key) + ENDED, "1", life)
          delete(key)
        end

        # @param key [String]
        # @return [Boolean]
        # @raise [CircuitBreaker::OpenError]
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
