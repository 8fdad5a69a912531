# frozen_string_literal: true

# The computations that run in the pool of Refreshes for calls with `soft_timeout:`.

require "concurrent/atomic/event"

module Larder
  module Store
    # There is one computation for each old value of a process. All its callers wait for that.
    # @api private
    module SoftCalls
      Entry = ActiveSupport::Cache::Entry
      UNCOMPRESSED = { compress: false }.freeze
      private_constant :Entry, :UNCOMPRESSED

      # An entry that several callers get. Each may change the value that it gets: so one of them gets the first object,
      # and the others get copies, as a read of the cache makes them.
      class Shared
        # @param entry [ActiveSupport::Cache::Entry]
        # @param format [RecordFormat]
        def initialize(entry, format)
          @entry = entry
          @format = format
          @record = format.record_of(Entry.new(entry.value), UNCOMPRESSED) unless Ractor.shareable?(entry.value)
        rescue StandardError
          @record = nil # a value that cannot be stored: its write says so
        end

        # @param first [Boolean] true for a caller that gets the first object, which no other caller uses
        # @return [ActiveSupport::Cache::Entry]
        def entry(first)
          return @entry if first || @record.nil?

          Entry.new(@format.copy_of(@record), expires_at: @entry.expires_at, version: @entry.version)
        end
      end

      # The answer of one computation, part by part. Each part is written by the thread that computes, before the event
      # that callers wait for.
      class Call
        # @return [Shared, nil] an entry with the value of the block
        attr_accessor :value
        # @return [Exception, nil] what the block raised, if that is not a StandardError
        attr_accessor :failure
        # @return [String, nil] the lease under which the value is computed
        attr_accessor :lease
        # @return [String, nil] the lease of another process, which computes the value
        attr_accessor :other
        # @return [Boolean, nil] true: no lease could be had and no value was found
        attr_accessor :refused
        # @return [Integer] the id of the process
        attr_reader :pid

        # @api private
        def initialize
          @seen, @done = Array.new(2) { Concurrent::Event.new }
          @pid = Process.pid
        end

        # @param entry [Shared, nil] what is stored, however old
        def see(entry)
          @entry = entry
          @sees = true
          @seen.set
        end

        # @return [Shared, nil]
        def seen(seconds)
          @seen.wait(seconds)
          @entry
        end

        # @return [Boolean, nil]
        def seen?
          @sees
        end

        # Ends all waits.
        def finish
          @seen.set
          @done.set
        end

        # @param seconds [Float] to wait at most
        # @return [Boolean] true if the computation has ended
        def done?(seconds)
          @done.wait(seconds)
        end
      end

      @running = {}
      @mutex = Mutex.new

      class << self
        # Yields in the pool, with the call, unless that runs already.
        #
        # @param id [Object] of the computation
        # @return [Array(Call, Boolean), nil] the call, and whether another caller began it; nil: the pool is full, or
        #   the handler of a signal asks, which can wait for none
        def join(id)
          @mutex.synchronize do
            running = @running[id]
            next [running, true] if running&.pid == Process.pid

            call = Call.new
            begun = Refreshes.now do |runs|
              yield call if runs
            ensure
              call.finish
              @mutex.synchronize { @running.delete(id) }
            end
            @running[id] = call if begun
            [call, false] if begun
          end
        rescue ThreadError
          nil
        end
      end
    end
  end
end
