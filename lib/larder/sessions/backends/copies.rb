# frozen_string_literal: true

# Calls the store behind a file by the keys of the file.

require "larder/remote/client"
require_relative "store"
require_relative "unbacked"

module Larder
  module Sessions
    module Backends
      # The store has copies of the file's entries. Each is read and written by itself: the {Larder::Remote::Outbox}
      # keeps back only those that have ended.
      #
      # A mark tells that a session has ended, and is written before the copy is deleted.
      #
      # Every call raises {UnavailableError} if the store is not called, or fails.
      class Copies < ::Larder::Remote::Client
        # Before the key in the name of a mark.
        ENDED = "ended/"
        # Stores whose values need no coder get bytes.
        RAW = { raw: true }.freeze
        private_constant :ENDED, :RAW

        # @param adapter [Larder::Remote::Adapters::Any] see {StoreBuilder.adapter}
        # @param report [#call] called with the first error of an outage
        # @param request [#call] returns the env of the current request, or nil
        def initialize(adapter, report:, request:)
          @calls = Calls.new(adapter.store.class.name, report: report, request: request, give_up: method(:pause))
          super(adapter, id: Unbacked::REMOTE)
        end

        # @return [String] of the list of changes
        def identity
          Unbacked::REMOTE
        end

        # @param method [Symbol] for errors
        # @yield calls the store
        # @return [Object] the block's value
        # @raise [UnavailableError]
        def attempt(method, &block)
          @calls.call do
            super(method) { @store.respond_to?(:with_local_cache) ? @store.with_local_cache(&block) : yield }
          end
        end

        # As in a {Store}, so that an application may change from one to the other.
        #
        # @param key [String]
        # @return [String]
        def name_of(key)
          super(own_key(Store.name_of(key)))
        end

        # @return [true] keys that are not listed may be asked for
        def several?
          true
        end

        # @param keys [Array<String>]
        # @return [Hash{String => String}] bytes of the copies that are there, and were not written late
        def find(keys)
          entries = entries_of(read_whole(keys + keys.map { |key| ENDED + key }, **RAW), **RAW)
          found = entries.reject { |_, entry| entry.expired? || !entry.value.is_a?(String) }
          found.slice(*keys.reject { |key| found.key?(ENDED + key) }).transform_values { |entry| entry.value.b }
        end

        # @param key [String]
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @return [void]
        # @raise [RemoteError] also if the store refuses it
        def put(key, bytes, ttl)
          life = ttl && [ttl, Direct::LONGEST].min
          write(key, ActiveSupport::Cache::Entry.new(bytes, expires_in: life), life, RAW) ||
            raise(RemoteError, "it did not take a copy")
        end

        # A copy that is written later, by a killed process or a slow connection, is not found.
        #
        # @param key [String]
        # @param life [Numeric, nil] seconds that a copy has to live at most, nil: for ever
        # @return [void]
        def mark(key, life)
          put(ENDED + key, "1", life)
        end

        # The outbox does not know what has ended. The tombstones of the file do, and the store may have more than
        # copies.
        # @return [void]
        def clear(*); end
      end
    end
  end
end
