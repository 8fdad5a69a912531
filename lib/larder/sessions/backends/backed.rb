# frozen_string_literal: true

# Keeps sessions in a file of Larder's, and a copy of each in a store that outlives the file.

require_relative "behind"
require_relative "copied_until"
require_relative "file"
require_relative "one_machine"
require_relative "tombstones"
require_relative "unwritten"

module Larder
  module Sessions
    module Backends
      # The file decides what a session is, and the store serves exactly one machine, see {OneMachine}. {#reload} reads
      # the copy after the file was lost.
      #
      # After it has written a copy, a process reads the file again, and repeats that until both are equal. So the
      # slower of two writers does not leave the older session in the store. A delete leaves a tombstone in the file,
      # because the store may not have been reached. Without an original the tombstone may be evicted; otherwise anybody
      # could fill the file with them.
      #
      # The store has a mark of each end as well. A copy that a killed process or a slow connection writes after the end
      # is not read. Changes that the store has not got because it did not answer are written by later requests.
      class Backed
        include Single

        # Attempts to make the copy equal to the original.
        ATTEMPTS = 10
        # Seconds after which changes that the store has not got are written again.
        RETRY = 5
        # Prefixes of keys of which there are many: such a change may be evicted from the list of unwritten ones.
        MANY = %w[s/ u/].freeze
        private_constant :ATTEMPTS, :RETRY, :MANY

        # @return [String] the class of the store
        attr_reader :behind

        # @param file [File]
        # @param store [ActiveSupport::Cache::Store]
        # @param report [#call] told of the error of a store that fails; requests go on with the file alone
        # @param calls [#call] {Calls}
        # @param ends_life [Numeric, nil] seconds to live of a mark of an end, nil: for ever
        # @param retry_every [Numeric] seconds
        # @param shared_by [String] the option for several machines, see {SecondMachineError}
        def initialize(file, store, report: ->(_error) {},
                       calls: Calls.new(store.class.name, report: report),
                       ends_life: Tombstones::REMEMBERED, retry_every: RETRY, shared_by: "cache:")
          @file = file
          @behind = store.class.name
          @store = Behind.new(store, calls)
          @tombstones = Tombstones.new(file)
          @unwritten = Unwritten.new(file)
          @copied_until = CopiedUntil.new(file.cache)
          @machine = OneMachine.new(file, @store) { report.call(SecondMachineError.new(behind, shared_by)) }
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

        # @param (see Single#refused)
        # @raise (see Single#refused)
        def refused(what)
          @file.refused(what)
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
          reached = delete_copy(key, left)
          @tombstones.set(key, life: Tombstones.beyond(left)) if left && !reached
          deleted
        end

        # @param (see Single#reload)
        # @return [String, nil] nil: there is none, or it has ended
        # @raise [UnavailableError] the store does not answer
        def reload(key)
          copies([key])[key] unless @tombstones.set?(key)
        end

        # @param (see Single#copies)
        # @return (see Single#copies)
        # @raise [UnavailableError] the store does not answer
        def copies(keys)
          @copied_until.note(@file) # the file may be a new one
          @machine.watch { |own| @store.read_multi([*keys, own]) }
        end

        # Writes the changes that the store has not got. What it does not take stays listed.
        # @return [void]
        def tell
          @retry_at = monotonic + @retry_every
          @unwritten.each { |key, ended| ended ? end_again(key) : copy_again(key) }
        rescue UnavailableError
          nil
        end

        # Puts an entry that was reloaded into the file.
        #
        # @param (see File#add)
        # @return [Symbol] as {File#add}, or :gone where it was deleted meanwhile
        def restore(key, bytes, ttl, pin: false)
          outcome = @file.add(key, bytes, ttl, pin: pin)
          return outcome unless @tombstones.set?(key)

          @file.delete(key)
          :gone
        end

        # @return [true]
        def copied?
          true
        end

        # @return [String] where sessions are kept, for people
        def to_s
          "#{@file}, backed by #{behind},"
        end

        private

        # @return [Boolean] false: there may be a copy still
        def delete_copy(key, left)
          listed_unless_made(-> { @unwritten.ended(key, life: @ends_life, pin: !!left) }) do
            left || @store.exist?(key) ? @store.end(key, @ends_life) : false
          end
        end

        def copy(key, bytes, ttl)
          life = ttl && Tombstones.beyond(ttl)
          listed_unless_made(-> { @unwritten.changed(key, life: life, pin: !key.start_with?(*MANY)) }) do
            copy!(key, bytes, ttl)
          end
        end

        # A change may fail, and may be interrupted by another thread's exception.
        #
        # @return [Object] the block's; false: it is listed
        def listed_unless_made(list)
          made = false
          answer = yield
          made = true
          answer
        rescue UnavailableError
          false
        ensure
          list.call unless made
        end

        def copy!(key, bytes, ttl)
          @copied_until.note(@file)
          ATTEMPTS.times do
            @store.write(key, bytes, ttl)
            now = @file.read(key)
            return @store.delete(key) if now.nil?
            return if now == bytes.b

            bytes = now
          end
        end

        # The file may have been lost since, and have reloaded it.
        def end_again(key)
          @tombstones.set(key, life: @ends_life)
          @file.delete(key)
          @store.end(key, @ends_life)
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
