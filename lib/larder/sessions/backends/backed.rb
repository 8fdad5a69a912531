# frozen_string_literal: true

# Owns how sessions are kept in a file of Larder's and, written through, in a store that survives the machine.

require_relative "behind"
require_relative "circuit_breaker"
require_relative "file"
require_relative "tombstones"
require_relative "unwritten"

module Larder
  module Sessions
    module Backends
      # The file decides what a session is; the store has a copy, from which {#reload} answers once the file is lost.
      #
      # Of two processes that change a session the one that is slower to write the copy would leave the older one
      # there. So whoever has written it looks at the file again, and writes again until both are the same. What is
      # deleted leaves a mark in the file: a store that was not reached would bring it back, for as long as the copy
      # lives there. Where there was nothing the mark may be evicted: else anybody could fill the file with them.
      #
      # The store has a mark as well, which other machines look for: {#reload} each time, and requests that have the
      # session in their own file each {#check_due?}. What the store could not be told is told by later requests.
      class Backed
        # Attempts to make the copy what the file says.
        ATTEMPTS = 10
        # Seconds after which what the store was not told is tried again.
        RETRY = 5
        # Before the keys of looks for an end.
        CHECKED = "c/"
        # How keys begin of which there are many. Of the others a change is listed without being evicted.
        MANY = %w[s/ u/].freeze
        private_constant :ATTEMPTS, :RETRY, :CHECKED, :MANY

        # @param file [File]
        # @param store [ActiveSupport::Cache::Store]
        # @param report [#call] told of a store that fails, as its error: the file goes on without it
        # @param breaker [CircuitBreaker]
        # @param check_ends_every [Numeric, nil] seconds, see {#check_due?}
        # @param ends_life [Numeric, nil] seconds for which a machine may have what has ended, nil: for ever
        # @param retry_every [Numeric] seconds
        def initialize(file, store, report: ->(_error) {},
                       breaker: CircuitBreaker.new(store.class.name, report: report), check_ends_every: nil,
                       ends_life: Tombstones::REMEMBERED, retry_every: RETRY)
          @file = file
          @name = store.class.name
          @behind = Behind.new(store, breaker)
          @tombstones = Tombstones.new(file.cache)
          @unwritten = Unwritten.new(file.cache)
          @check_every = check_ends_every
          @ends_life = ends_life
          @retry_every = retry_every
          @retry_at = 0
        end

        # @return [Cache]
        def cache
          @file.cache
        end

        # @param (see File#read)
        # @return (see File#read)
        def read(key)
          tell if monotonic >= @retry_at
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
          reached = delete_behind(key, left)
          @tombstones.set(key, life: Tombstones.beyond(left)) if left && !reached
          deleted
        end

        # @param (see File#reload)
        # @return [String, nil] nil as well where the store cannot be asked, or another machine has ended it
        def reload(key)
          return if @tombstones.set?(key)

          bytes = @behind.read(key)
          bytes unless bytes.nil? || @behind.ended?(key)
        rescue CircuitBreaker::OpenError
          nil
        end

        # @param keys [Array<String>]
        # @return [Hash{String => String}, nil] what the store has of them; nil: it cannot be asked
        def elsewhere(keys)
          @behind.read_multi(keys)
        rescue CircuitBreaker::OpenError
          nil
        end

        # @param key [String] of what the file has
        # @return [Boolean] is it time to look whether another machine has ended it? All processes of this machine
        #   look once in `check_ends_every:` seconds, with 0 each time, with nil never
        def check_due?(key)
          return false if @check_every.nil?

          @check_every.zero? || cache.add(CHECKED + key, "", ttl: @check_every)
        end

        # @param key [String]
        # @return [Boolean] has another machine ended it? false as well where the store cannot be asked
        def ended_elsewhere?(key)
          @behind.ended?(key)
        rescue CircuitBreaker::OpenError
          false
        end

        # Tells the store what it was not told, as far as it answers and for a moment.
        # @return [void]
        def tell
          @retry_at = monotonic + @retry_every
          @unwritten.each { |key, ended| ended ? end_again(key) : copy_again(key) }
        rescue CircuitBreaker::OpenError
          nil # it stays listed
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

        # @return [true]
        def copied?
          true
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

        def delete_behind(key, left)
          @behind.end(key, @ends_life) if left || @behind.exist?(key)
        rescue CircuitBreaker::OpenError
          @unwritten.ended(key, life: @ends_life, pin: !!left)
          nil
        end

        def copy(key, bytes, ttl)
          copy!(key, bytes, ttl)
        rescue CircuitBreaker::OpenError
          @unwritten.changed(key, life: ttl && Tombstones.beyond(ttl), pin: !key.start_with?(*MANY))
        end

        def copy!(key, bytes, ttl)
          ATTEMPTS.times do
            @behind.write(key, bytes, ttl)
            now = @file.read(key)
            return @behind.delete(key) if now.nil?
            return if now == bytes.b

            bytes = now
          end
        end

        # The file may have been lost meanwhile, and have it again.
        def end_again(key)
          @tombstones.set(key, life: @ends_life)
          @file.delete(key)
          @behind.end(key, @ends_life)
        end

        def copy_again(key)
          bytes = @file.read(key)
          ttl = cache.ttl(key)
          copy!(key, bytes, (ttl unless ttl == Float::INFINITY)) if bytes && ttl
        end

        def monotonic
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
