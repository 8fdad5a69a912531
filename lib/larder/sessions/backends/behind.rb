# frozen_string_literal: true

# Calls the store behind a file by the keys of the file.

require_relative "store"

module Larder
  module Sessions
    module Backends
      # The store has copies of the file's entries, and marks of ends. A mark is an entry of its own. It is written
      # before the copy is deleted, and a copy with a mark is not read: it was written late.
      #
      # Every method raises {UnavailableError} if the store is not called, or fails.
      class Behind
        # After the name of a copy.
        ENDED = "/ended"
        private_constant :ENDED

        # @param store [ActiveSupport::Cache::Store]
        # @param calls [#call] {Calls}
        def initialize(store, calls)
          @store = Direct.new(store, calls)
        end

        # @param keys [Array<String>]
        # @return [Hash{String => String}] bytes of the copies that are there and have no mark
        def read_multi(keys)
          names = keys.to_h { |key| [key, name(key)] }
          found = @store.read_multi(names.values.flat_map { |name| [name, name + ENDED] })
          names.reject { |_, name| found.key?(name + ENDED) }.transform_values { |name| found[name] }.compact
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
          @store.delete(name(key))
        end

        # @param key [String]
        # @return [Boolean]
        def exist?(key)
          @store.exist?(name(key))
        end

        # @param key [String]
        # @param life [Numeric, nil] seconds to live of the mark, nil: for ever
        # @return [Boolean] was there a copy?
        def end(key, life)
          put(name(key) + ENDED, "1", life)
          delete(key)
        end

        private

        # As in a Store, so that an application may change from one to the other.
        def name(key)
          Store.name_of(key)
        end

        def put(name, bytes, ttl)
          @store.write(name, bytes, expires_in: ttl) ||
            raise(UnavailableError.new("the store of backed_by:", "it did not take a copy"))
        end
      end
    end
  end
end
