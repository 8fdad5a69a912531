# frozen_string_literal: true

# Owns the list, in a file of Larder's, of what a store behind it was not told because it could not be reached.

require "securerandom"
require_relative "../pinning"

module Larder
  module Sessions
    module Backends
      # A key stays listed until the store has what the file says, whichever process writes it. Ends are also listed in
      # the memory of the process that made them, which may outlive the file.
      class Unwritten
        # Before the keys.
        PREFIX = "d/"
        # Whether any is listed: other bytes with each that is, none when all were written.
        DUE = "due"
        # Held by the process that writes them, for so many seconds at most.
        LOCK = "due/lock"
        LOCKED = 60
        # Seconds that a request may spend on it.
        LIMIT = 0.1
        # Ends in memory.
        MAX = 10_000
        ENDED = "e"
        CHANGED = "c"
        ATTEMPTS = 3
        # A record that is written is given this many seconds, for it can be swapped and not deleted by its bytes.
        NONE = 0.001
        private_constant :PREFIX, :DUE, :LOCK, :LOCKED, :LIMIT, :MAX, :ENDED, :CHANGED, :ATTEMPTS, :NONE

        # @param cache [Cache]
        def initialize(cache)
          @cache = cache
          @ends = {}
        end

        # @param key [String] of what has ended
        # @param life [Numeric, nil] seconds for which there may be a copy, nil: for ever
        # @param pin [Boolean] it must not be evicted, as far as there is room
        # @return [void]
        def ended(key, life:, pin:)
          @ends[key] = true if @ends.size < MAX
          add(key, ENDED, life, pin)
        end

        # @param key [String] of what was changed
        # @param life [Numeric, nil] as of {#ended}
        # @param pin [Boolean] as of {#ended}
        # @return [void]
        def changed(key, life:, pin:)
          add(key, CHANGED, life, pin)
        end

        # @return [Boolean] is any listed?
        def any?
          @ends.any? || @cache.get(DUE).to_s != ""
        end

        # Visits what is listed, for a moment, unless another process does. What the block returns from is no longer
        # listed; what raises ends the visit.
        #
        # @yieldparam key [String]
        # @yieldparam ended [Boolean] it has ended, and was not changed
        # @return [void]
        def each(&block)
          return unless any? && @cache.add(LOCK, "", ttl: LOCKED)

          begin
            @ends.keys.each do |key| # rubocop:disable Style/HashEachMethods -- it changes meanwhile
              yield key, true
              @ends.delete(key)
            end
            all = @cache.get(DUE)
            @cache.cas(DUE, all, "") if each_listed(&block) && all
          ensure
            @cache.delete(LOCK)
          end
        end

        private

        # @return [Boolean] were all visited?
        def each_listed
          limit = now + LIMIT
          @cache.each_key(prefix: PREFIX) do |entry|
            bytes = @cache.get(entry)
            next if bytes.nil? || bytes.empty?

            yield entry.byteslice(PREFIX.bytesize..), bytes.start_with?(ENDED)
            @cache.cas(entry, bytes, "", ttl: NONE) # not what was listed again meanwhile
            return false if now > limit
          end
          true
        end

        def add(key, kind, life, pin)
          token = SecureRandom.bytes(8)
          set(PREFIX + key, kind + token, life, pin)
          set(DUE, token, nil, true)
        end

        def set(key, bytes, life, pin)
          Pinning.as_room_allows do |room|
            ATTEMPTS.times { break if @cache.set(key, bytes, ttl: life, pin: pin && room) }
          end
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
