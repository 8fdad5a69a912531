# frozen_string_literal: true

# Lists, in a file of Larder's, the changes that the store behind it has not got because it did not answer.

require "securerandom"

module Larder
  module Sessions
    module Backends
      # A key stays listed until the store has what the file has, whichever process writes it. Ends are also listed in
      # the memory of the process that made them, which may outlive the file.
      class Unwritten
        # The prefix of listed keys.
        PREFIX = "d/"
        # Whether any is listed: a random token of the latest one, or nothing after all were written.
        DUE = "due"
        # Held by the process that writes them, for so many seconds at most.
        LOCK = "due/lock"
        LOCKED = 60
        # Seconds that a request may spend on writing them.
        LIMIT = 0.1
        # Ends in memory.
        MAX = 10_000
        ENDED = "e"
        CHANGED = "c"
        # Seconds to live of an entry that was written: it can be swapped, but not deleted, by its bytes.
        NONE = 0.001
        private_constant :PREFIX, :DUE, :LOCK, :LOCKED, :LIMIT, :MAX, :ENDED, :CHANGED, :NONE

        # @param file [File]
        def initialize(file)
          @file = file
          @cache = file.cache
          @ends = {}
        end

        # @param key [String] of what has ended
        # @param life [Numeric, nil] seconds that a copy has to live at most, nil: for ever
        # @param pin [Boolean] it should not be evicted
        # @return [void]
        def ended(key, life:, pin:)
          @ends[key] = true if @ends.size < MAX
          list(key, ENDED, life, pin)
        end

        # @param key [String] of what was changed
        # @param life [Numeric, nil] as of {#ended}
        # @param pin [Boolean] as of {#ended}
        # @return [void]
        def changed(key, life:, pin:)
          list(key, CHANGED, life, pin)
        end

        # @return [Boolean] is any listed?
        def any?
          @ends.any? || @cache.get(DUE).to_s != ""
        end

        # Visits listed keys for {LIMIT} seconds, unless another process does. A key is taken off the list when the
        # block returns; an exception ends the visit.
        #
        # @yieldparam key [String]
        # @yieldparam ended [Boolean] it has ended; false: it was changed
        # @return [void]
        def each(&block)
          return unless any? && @cache.add(LOCK, "", ttl: LOCKED)

          begin
            @ends.keys.each do |key| # rubocop:disable Style/HashEachMethods -- it changes meanwhile
              yield key, true
              @ends.delete(key)
            end
            token = @cache.get(DUE)
            @cache.cas(DUE, token, "") if each_listed(&block) && token
          ensure
            @cache.delete(LOCK)
          end
        end

        private

        # @return [Boolean] were all visited?
        def each_listed
          limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + LIMIT
          @cache.each_key(prefix: PREFIX) do |entry|
            bytes = @cache.get(entry)
            next if bytes.nil? || bytes.empty?

            yield entry.byteslice(PREFIX.bytesize..), bytes.start_with?(ENDED)
            @cache.cas(entry, bytes, "", ttl: NONE) # unless it was listed again meanwhile
            return false if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit
          end
          true
        end

        def list(key, kind, life, pin)
          token = SecureRandom.bytes(8)
          @file.set(PREFIX + key, kind + token, life, pin: pin)
          @file.set(DUE, token, nil)
        end
      end
    end
  end
end
