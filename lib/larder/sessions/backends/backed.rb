# frozen_string_literal: true

# Owns how sessions are kept in a file of Larder's and, written through, in a store that survives the machine.

require_relative "direct"
require_relative "file"
require_relative "tombstones"
require_relative "store"

module Larder
  module Sessions
    module Backends
      # The file decides what a session is; the store has a copy, from which {#reload} answers once the file is lost.
      #
      # Of two processes that change a session the one that is slower to write the copy would leave the older one
      # there. So whoever has written it looks at the file again, and writes again until both are the same. What is
      # deleted leaves a mark in the file: a store that was not reached would bring it back, for as long as the copy
      # lives there. Where there was nothing the mark may be evicted: else anybody could fill the file with them.
      class Backed
        # Attempts to make the copy what the file says.
        ATTEMPTS = 10
        private_constant :ATTEMPTS

        # @param file [File]
        # @param store [ActiveSupport::Cache::Store]
        # @param report [#call] told of a store that fails, as its error: the file goes on without it
        def initialize(file, store, report: ->(_error) {})
          @file = file
          @store = Direct.new(store)
          @name = store.class.name
          @report = report
          @tombstones = Tombstones.new(file.cache)
        end

        # @return [Cache]
        def cache
          @file.cache
        end

        # @param (see File#read)
        # @return (see File#read)
        def read(key)
          @file.read(key)
        end

        # @param (see File#add)
        # @return (see File#add)
        def add(key, bytes, ttl, pin: false)
          @file.add(key, bytes, ttl, pin: pin).tap { |outcome| copy(key, bytes, ttl) if outcome == :stored }
        end

        # @param (see File#swap)
        # @return (see File#swap)
        def swap(key, expected, bytes, ttl, pin: false)
          @file.swap(key, expected, bytes, ttl, pin: pin).tap do |outcome|
            copy(key, bytes, ttl) if outcome == :stored
          end
        end

        # @param (see File#delete)
        # @return (see File#delete)
        def delete(key)
          left = cache.ttl(key)
          life = [Tombstones.beyond(left || Tombstones::REMEMBERED), Tombstones::REMEMBERED].compact.min
          @tombstones.set(key, life: life, pin: !!left)
          deleted = @file.delete(key)
          reached = reported { @store.delete(name(key)) }
          @tombstones.set(key, life: Tombstones.beyond(left)) if left && !reached
          deleted
        end

        # @param (see File#reload)
        # @return (see File#reload)
        def reload(key)
          reported { @store.read(name(key)) } unless @tombstones.set?(key)
        end

        # Puts back what was reloaded.
        #
        # @param (see File#add)
        # @return [Symbol] as {File#add}, or :gone where it was deleted meanwhile
        def restore(key, bytes, ttl, pin: false)
          outcome = @file.add(key, bytes, ttl, pin: pin)
          return outcome unless @tombstones.set?(key)

          @file.delete(key) # a deleter sets its mark before: one of the two deletes it
          :gone
        end

        # @return [String] the class of the store
        def behind
          @name
        end

        # @return [String] where sessions are kept, for people
        def to_s
          "#{@file}, backed by #{behind},"
        end

        private

        # As in a Store, so that an application may change from one to the other.
        def name(key)
          Store.name_of(key)
        end

        def copy(key, bytes, ttl)
          ATTEMPTS.times do
            reported { @store.write(name(key), bytes, expires_in: ttl) }
            now = @file.read(key)
            return reported { @store.delete(name(key)) } if now.nil?
            return if now == bytes.b

            bytes = now
          end
        end

        # Stores raise what their clients do, of any class.
        def reported
          yield
        rescue StandardError => error
          @report.call(error)
          nil
        end
      end
    end
  end
end
