# frozen_string_literal: true

# Keeps sessions in a file of Larder's.

require_relative "../pinning"
require_relative "single"

module Larder
  module Sessions
    # Where sessions are kept.
    module Backends
      # Keeps sessions in a {Larder::Cache}. Its compare-and-swap makes each change atomic.
      #
      # Every backend has {#read}, {#add}, {#swap} and {#delete}, and the methods of {Single}. Keys are Strings of any
      # bytes.
      class File
        include Single

        # Attempts at a store that is refused if the shard lock times out.
        ATTEMPTS = 3
        private_constant :ATTEMPTS

        # @return [Cache]
        attr_reader :cache

        # @param cache [Larder::Cache]
        def initialize(cache)
          @cache = cache
        end

        # @param key [String]
        # @return [String, nil] bytes
        def read(key)
          @cache.get(key)
        end

        # @param key [String]
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @param pin [Boolean] it must not be evicted
        # @return [Symbol] :stored, :changed where the key is taken, :refused, :full
        # @raise [TooLongError]
        def add(key, bytes, ttl, pin: false)
          outcome(bytes) do
            next :stored if @cache.add(key, bytes, ttl: ttl, pin: pin)

            :changed if @cache.exist?(key)
          end
        end

        # Compares and swaps.
        #
        # @param key [String]
        # @param expected [String] what was read
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @param pin [Boolean] it must not be evicted
        # @return [Symbol] :stored, :gone where there is nothing, :changed where there is something else, :refused,
        #   :full; only :stored changes anything
        # @raise [TooLongError]
        def swap(key, expected, bytes, ttl, pin: false)
          outcome(bytes) do
            next :stored if @cache.cas(key, expected, bytes, ttl: ttl, pin: pin)

            found = @cache.get(key)
            next :gone if found.nil?

            :changed unless found == expected.b
          end
        end

        # @param key [String]
        # @return [Boolean] was it there?
        def delete(key)
          @cache.delete(key)
        end

        # Sets an entry about sessions. It is set evictable if there is no room for a pinned one.
        #
        # @param key [String]
        # @param bytes [String]
        # @param ttl [Numeric, nil] seconds to live
        # @param pin [Boolean] it should not be evicted
        # @return [void]
        def set(key, bytes, ttl, pin: true)
          Pinning.as_room_allows do |room|
            ATTEMPTS.times { break if @cache.set(key, bytes, ttl: ttl, pin: pin && room) }
          end
        end

        # @return [String] where sessions are kept, for people
        def to_s
          @cache.path
        end

        private

        # The block answers nil if the store was refused, and is tried again.
        def outcome(bytes)
          ATTEMPTS.times do
            outcome = yield
            return outcome if outcome
          end
          :refused
        rescue ::Larder::FullError
          :full
        rescue ::Larder::InvalidArgument
          raise TooLongError.new(bytes.bytesize, @cache.max_pinned)
        end
      end
    end
  end
end
