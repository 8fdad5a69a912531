# frozen_string_literal: true

# Owns how sessions are kept in any store of ActiveSupport's, which has no compare and swap.

require "securerandom"
require_relative "direct"

module Larder
  module Sessions
    module Backends
      # Keeps sessions in an ActiveSupport::Cache::Store. Where two processes share it, a change is made under a lock
      # that is an entry of the store; and what was deleted leaves a mark, by which a slower writer sees that it was.
      #
      # A writer looks at the mark before it writes and again afterwards, and a deleter writes the mark before it
      # deletes. So one of the two deletes what was written between them, whichever comes first.
      class Store
        # Before the keys, which are hexadecimal there: not every store takes any bytes.
        PREFIX = "session/"
        # Seconds that a request may be slower than the one that ended its session.
        REMEMBERED = 3600
        # Seconds after which a lock is free whose owner has died, and that others wait for it; then they go on
        # without: of two changes of one key the later one stays, as it does with the lock.
        LOCKED = 5
        PATIENCE = 1.0
        # Seconds between two looks at a lock.
        PAUSE = (0.002..0.02)
        private_constant :PREFIX, :REMEMBERED, :LOCKED, :PATIENCE, :PAUSE

        # @param key [String]
        # @return [String] what it is called in a store of ActiveSupport's
        def self.name_of(key)
          PREFIX + key.unpack1("H*")
        end

        # @param store [ActiveSupport::Cache::Store]
        def initialize(store)
          @store = Direct.new(store)
          @name = store.class.name
        end

        # @param (see File#read)
        # @return (see File#read)
        def read(key)
          @store.read(name(key))
        end

        # @param (see File#add)
        # @return (see File#add)
        def add(key, bytes, ttl, pin: false) # rubocop:disable Lint/UnusedMethodArgument -- such stores evict as they do
          return :stored if @store.add(name(key), bytes, ttl)

          @store.exist?(name(key)) ? :changed : :refused
        end

        # @param (see File#swap)
        # @return (see File#swap)
        def swap(key, expected, bytes, ttl, pin: false) # rubocop:disable Lint/UnusedMethodArgument -- as above
          key = name(key)
          locked(key) do
            found = @store.read(key)
            return :gone if found.nil? || gone?(key)
            return :changed unless found == expected
            return :refused unless @store.write(key, bytes, expires_in: ttl)

            gone?(key) ? forget(key) : :stored
          end
        end

        # @param (see File#delete)
        # @return (see File#delete)
        def delete(key)
          key = name(key)
          @store.write("#{key}/gone", "1", expires_in: REMEMBERED)
          @store.delete(key)
        end

        # @param (see File#reload)
        # @return (see File#reload)
        def reload(_key)
          nil
        end

        # @return [Hash] all machines have the same store
        def elsewhere(_keys)
          {}
        end

        # @return [false]
        def check_due?(_key)
          false
        end

        # @return [false]
        def copied?
          false
        end

        # @return [String] where sessions are kept, for people
        def to_s
          @name
        end

        private

        def name(key)
          self.class.name_of(key)
        end

        def gone?(key)
          @store.exist?("#{key}/gone")
        end

        def forget(key)
          @store.delete(key)
          :gone
        end

        def locked(key)
          lock = "#{key}/lock"
          mine = SecureRandom.hex(8)
          held = acquire(lock, mine)
          yield
        ensure
          # Not another's, should this process have slept for as long as a lock lives.
          @store.delete(lock) if held && @store.read(lock) == mine
        end

        def acquire(lock, mine)
          limit = now + PATIENCE
          until @store.add(lock, mine, LOCKED)
            return false if now > limit

            sleep rand(PAUSE)
          end
          true
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
