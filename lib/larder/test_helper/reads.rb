# frozen_string_literal: true

# Records the reads of a store while a block runs, by the events of Active Support, because the counts of the file have
# no keys. The events have the answers that callers got. From Rails 7.2 on C sends them, so the fast path stays on.

require "active_support/notifications"

module Larder
  module TestHelper
    # The reads of a block, in order.
    class Reads
      # A key that was read by one call.
      #
      # - `key`: String, as in the file
      # - `hit`: Boolean
      # - `operation`: Symbol, the method that was called: :fetch, :read, :fetch_multi or :read_multi
      # - `line`: String, file and line of the application that made the call, or nil
      # - `namespace`: of the call, or of the store
      Read = Struct.new(:key, :hit, :operation, :line, :namespace)

      # An option that the payloads of a store's events have, and that nothing reads but this file.
      MARK = :larder_test_helper
      # Names from which keys are made, on a Rails whose events have names.
      Naming = Struct.new(:store) do
        # @param name [Object] of an event
        # @param payload [Hash] of the event
        # @return [String]
        def key(name, payload)
          Larder::Store::Keys::INSTRUMENTS_KEYS ? name : normalized(name, payload)
        end

        # @param names [Array, Hash] of an event
        # @param payload [Hash] of the event
        # @return [Array<String>, Hash]
        def keys(names, payload)
          return names unless names.is_a?(Array)

          Larder::Store::Keys::INSTRUMENTS_MANY_KEYS ? names : names.map { |name| normalized(name, payload) }
        end

        private

        def normalized(name, payload)
          store.send(:normalize_key, name, payload.slice(:namespace))
        end
      end
      private_constant :MARK, :Naming

      class << self
        # @param store [ActiveSupport::Cache::LarderStore] whose reads count; no others do
        # @return [Array(Reads, Object)] and what the block returns
        def of(store, &block)
          mark = mark(store)
          queue = Thread::Queue.new # of all threads
          naming = Naming.new(store)
          note = lambda do |name, _begun, _ended, _id, payload|
            noted(name, payload, naming).each { |read| queue << read } if payload[MARK] == mark
          end
          value = subscribed(note, &block)
          [new(Array.new(queue.size) { queue.pop }), value]
        end

        private

        # The payload of an event has the options of the store, but not the store.
        def mark(store)
          store.options[MARK] ||= store.object_id
        end

        def subscribed(note, &block)
          ActiveSupport::Notifications.subscribed(note, "cache_read.active_support") do
            ActiveSupport::Notifications.subscribed(note, "cache_read_multi.active_support", &block)
          end
        end

        def noted(event, payload, naming)
          line = Application.calling_line&.delete_prefix("#{Application.root}/")
          operation = payload[:super_operation]
          return many(payload, naming, operation || :read_multi, line) if event.start_with?("cache_read_multi")
          return [] unless payload.key?(:hit) # it raised

          [Read.new(naming.key(payload[:key], payload), payload[:hit] ? true : false, operation || :read, line,
                    payload[:namespace])]
        end

        def many(payload, naming, operation, line)
          return [] unless payload.key?(:hits)

          hits = naming.keys(payload[:hits], payload).to_h { |key| [key, true] }
          naming.keys(payload[:key], payload).uniq.map do |key|
            Read.new(key, hits.key?(key), operation, line, payload[:namespace])
          end
        end
      end

      # @return [Array<Read>]
      attr_reader :all
      # @return [Array<Read>] reads of the block that `key:` does not choose
      attr_reader :left_out

      # @param all [Array<Read>]
      # @param left_out [Array<Read>]
      def initialize(all, left_out = [])
        @all = all
        @left_out = left_out
      end

      # @return [Array<Read>]
      def hits
        all.select(&:hit)
      end

      # @return [Array<Read>]
      def misses
        all.reject(&:hit)
      end
    end
  end
end
