# frozen_string_literal: true

# Leases of many keys in a remote store that runs scripts.

module Larder
  module Remote
    # Ask first whether it is {#usable?}. Each other method makes one call of the store, for any number of keys (see
    # Adapters::RedisLeases). It answers nil if the store has just refused the script.
    # @api private
    class ScriptedLeases
      # @param client [Client]
      # @param adapter [Adapters::Any]
      def initialize(client, adapter)
        @client = client
        @adapter = adapter
      end

      # @return [Boolean]
      def usable?
        scripts&.usable? || false
      rescue RemoteError
        false # no call can be made now
      end

      # @param text [String]
      # @return [String] a lease as the store has it
      def dump(text, seconds)
        # The time is for stores that keep expired entries.
        @scripts.dump(ActiveSupport::Cache::Entry.new(text, expires_in: seconds), { expires_in: seconds })
      end

      # @param bytes [String, nil] of the store
      # @param raw [Boolean, nil] is it a raw entry?
      # @return [ActiveSupport::Cache::Entry, nil]
      def load(bytes, raw: false)
        @client.attempt(:read) { @scripts.load(bytes, raw) } if bytes
      end

      # @param wanted [Hash{String=>Array(String, Float, String)}] by key, the bytes of the lease, its seconds, and
      #   the bytes of a dead lease that it replaces
      # @return [Hash{String=>Array(String, String)}, nil] by key, the lease that is there, and the bytes of the entry.
      #   Keys that the store must not be asked for are left out
      # @raise [RemoteError]
      def take(wanted)
        keys = @client.to_ask(wanted.keys)
        return {} if keys.empty?

        answers = @client.attempt(:write) do
          @scripts.take(keys.map { |key| [*names(key), *wanted[key]] })
        end
        answers && keys.zip(answers).to_h
      end

      # Stores entries whose leases have not ended, in place of what was there when they were taken.
      #
      # @param writes [Hash{String=>Array(String, ActiveSupport::Cache::Entry, Float, String, Boolean)}] by key, the
      #   bytes of the lease, the entry, seconds to keep it or nil, the bytes of the entry that it replaces, and whether
      #   it is raw
      # @return [Hash{String=>Boolean}, nil] was it stored?
      # @raise [RemoteError]
      def write(writes)
        rows = writes.map do |key, (lease, entry, kept_in, old, raw)|
          seconds = @adapter.ttl(kept_in) if kept_in
          [*names(key), lease, @scripts.dump(entry, { expires_in: seconds, raw: raw }.compact), seconds, old]
        end
        answers = @client.attempt(:write) { @scripts.write(rows) }
        answers && writes.keys.zip(answers).to_h
      end

      # @param held [Hash{String=>String}] bytes of leases by keys
      # @return [Object, nil]
      # @raise [RemoteError]
      def end_all(held)
        named = held.transform_keys { |key| names(key).first }
        @client.attempt(:delete) { @scripts.end_all(named) }
      end

      private

      # @return [Adapters::RedisLeases, nil]
      # @raise [RemoteError] that cannot be found out now
      def scripts
        defined?(@scripts) ? @scripts : @scripts = @client.attempt(:ask) { @adapter.leases }
      end

      def names(key)
        [@client.name_of(Remote.lease_key(key)), @client.name_of(key)]
      end
    end
  end
end
