# frozen_string_literal: true

# The computations that each thread of this process has begun.

require "concurrent/map"
require "larder/bytes/interrupts"
require "larder/bytes/monotonic_clock"
require "larder/store/flight"

module Larder
  module Store
    # Two kinds: blocks that run, and reads of views that announced a write. The list belongs to a thread, so it needs
    # no lock. It is the only data that a call leaves for a later one.
    #
    # The fibers of a thread may serve several requests. So a write looks only at the flights of its own fiber, and the
    # end of a request ends only flights that the request has begun. The list has those of all fibers, because a fiber
    # must not wait for one that cannot run before the wait is over.
    # @api private
    class Flights
      include MonotonicClock

      VARIABLE = :larder_flights
      NONE = [].freeze
      # Keys whose blocks took longer than their leases, and for how many seconds.
      OVERRUNS = Concurrent::Map.new
      MOST_OVERRUNS = 100
      # Reads of tagged entries that were not written yet: keys of a fiber, and reads of a key.
      MOST_KEYS = 10_000
      MOST_OF_A_KEY = 8
      private_constant :VARIABLE, :NONE, :OVERRUNS, :MOST_OVERRUNS, :MOST_KEYS, :MOST_OF_A_KEY

      # A fiber's pieces of work of the application, one within the other: when each began, and their reads by key.
      Work = Struct.new(:begun, :reads)
      private_constant :Work

      class << self
        # @return [Flights, nil] those of this thread; nil: it has begun none yet
        def begun
          Thread.current.thread_variable_get(VARIABLE)
        end

        # @return [Flights] those of this thread
        def current
          begun || new.tap { |flights| Thread.current.thread_variable_set(VARIABLE, flights) }
        end

        # @return [Array<Flight>] flights of this thread that have leases of this process
        def held
          begun ? begun.held : NONE
        end

        # @return [Flight, nil] the last flight of a key in this fiber that has a lease
        def of(records, key)
          begun&.of(records, key)
        end

        # While the block runs, this thread is on the flight, which has no lease.
        #
        # @param flight [Flight]
        # @return [Object] the block's value
        def within(flight)
          flights = current
          yield flights.add(flight)
        ensure
          flights&.drop(flight)
        end

        # A piece of work of the application, as a request, begins. It may do so within another one.
        # @return [void]
        def begin_work
          current.begin_work
        end

        # It ends. So do reads that it has begun and that no write has followed.
        # @return [void]
        def end_work
          begun&.end_work
        end

        # A value that took longer than its lease was not stored if another caller has the next one, and might never be.
        # So this process takes the next lease of the key for twice as long.
        #
        # @param flight [Flight]
        # @param seconds [Float] length of its lease
        # @return [void]
        def note_overrun(flight, seconds)
          took = flight.age
          return if took < seconds

          OVERRUNS.delete(OVERRUNS.keys.first) if OVERRUNS.size >= MOST_OVERRUNS
          OVERRUNS[flight.key] = took
        end

        # @return [Float] for how long a lease of the key is to be taken
        def seconds(key, given)
          return given if OVERRUNS.empty?

          (2 * (OVERRUNS[key] || 0)).clamp(given, Larder::Cache::MAX_TTL)
        end

        # Tells the fast path how many leases are held by all threads. C adds to the number, as Ruby may run another
        # thread between reading and writing it: with a number that is too low, writes ignore leases. A thread that died
        # with some, also in a fork, leaves the number too high, which makes writes with single_flight slower, and
        # nothing else.
        #
        # @return [Integer] the number
        def count_leases(change)
          FastPath.send(:_count_leases, change)
        end
      end

      # @api private
      def initialize
        @flights = []
        @works = {}.compare_by_identity
      end

      # @return [Boolean] true if a read has announced a write
      def announced?
        @flights.any?(&:option)
      end

      # @return [Array<Flight>] those that have leases of this process
      def held
        @flights.select { |flight| flight.leased? && flight.own? }
      end

      # Begins a flight.
      #
      # @param flight [Flight]
      # @return [Flight] the same
      def add(flight)
        Thread.handle_interrupt(Interrupts::DEFERRED) do
          @flights += [flight]
          Flights.count_leases(1) if flight.leased?
        end
        flight
      end

      # Ends a flight.
      #
      # @return [Boolean] false: it had ended
      def drop(flight)
        Thread.handle_interrupt(Interrupts::DEFERRED) do
          rest = @flights.reject { |other| other.equal?(flight) }
          next false if rest.size == @flights.size

          @flights = rest
          flight.ended = true
          Flights.count_leases(-1) if flight.leased?
          true
        end
      end

      # @return [Flight, nil] the last flight of a key in this fiber that has a lease; or of the process that forked
      #   this one while it computed the value: what this one makes of it is not stored
      def of(records, key)
        @flights.reverse_each.find { |flight| flight.leased? && here?(flight) && flight.of?(records, key) }
      end

      # @return [Array<Flight>] of reads of this fiber that have announced a write of the key
      def announced(records, key)
        @flights.select { |flight| flight.option && here?(flight) && flight.of?(records, key) }
      end

      # @return [Flight, nil] the flight whose value a write of the key stores: the last one of this fiber
      def for_write(records, key)
        @flights.reverse_each.find { |flight| here?(flight) && flight.of?(records, key) }
      end

      # Ends a flight whose value was not stored, and its lease, so that others need not wait. If the file cannot be
      # reached, the lease ends by itself.
      #
      # @param fresh [Integer] seconds for which the old value counts as fresh
      # @return [Boolean, nil]
      def give_up(flight, fresh = 0)
        Thread.handle_interrupt(Interrupts::DEFERRED) do
          next unless drop(flight) && flight.token

          flight.records.lease_end(flight.key, flight.token, fresh * 1000, Clock.now_ms)
        end
      rescue Larder::Error
        false
      end

      # The same for several flights.
      #
      # @param flights [Array<Flight>]
      # @return [void]
      def give_up_each(flights)
        Thread.handle_interrupt(Interrupts::DEFERRED) { flights.each { |flight| give_up(flight) } }
      end

      # Notes the read of a tagged entry that was missing, as a view writes it next.
      #
      # @param flight [Flight] without a lease
      # @return [void]
      def note_read(flight)
        reads = work.reads
        return if reads.size >= MOST_KEYS && !reads.key?(flight.key) # its write takes the latest of all

        of_key = (reads[flight.key] ||= [])
        of_key.shift if of_key.size >= MOST_OF_A_KEY
        of_key << flight
      end

      # @param follows_read [Boolean] true if the write may be that which a read announced: then the read is forgotten
      # @return [String, nil] the stamp of a write; nil: its value began to be computed now
      def stamp_of(records, key, follows_read:)
        running = @flights.select { |flight| flight.stamp && flight.records.equal?(records) && here?(flight) }
        found = (take_read(records, key) if follows_read) || running.reverse.find { |flight| flight.key == key } ||
                running.last || (latest_read if follows_read)
        found&.stamp
      end

      # @return [void]
      def begin_work
        work.begun << monotonic_now
      end

      # @return [void]
      def end_work
        mine = @works[Fiber.current]
        since = mine&.begun&.pop || 0 # where a scheduler's fiber has begun it, another one may end it
        give_up_each(@flights.select { |flight| flight.leased? && ends?(flight, since) })
        forget_reads(mine, since) if mine
      end

      private

      def here?(flight)
        flight.fiber.equal?(Fiber.current)
      end

      # True if a flight ends with the work of this fiber that began at a time. A block of this fiber ends its flight
      # itself. Fibers that the work has begun, as those of Enumerators, have no work of their own, and do not go on
      # after it, unless a scheduler runs them.
      def ends?(flight, since)
        return true unless flight.fiber.alive?
        return false if flight.since < since
        return !flight.option.nil? if here?(flight)

        !Fiber.scheduler && !@works[flight.fiber]&.begun&.any?
      end

      def forget_reads(mine, since)
        mine.reads.delete_if { |_, of_key| of_key.reject! { |flight| flight.since >= since } && of_key.empty? }
        @works.delete(Fiber.current) if mine.begun.empty? && mine.reads.empty?
      end

      # The work of this fiber. Fibers that have ended leave nothing.
      def work
        @works[Fiber.current] ||= begin
          @works.delete_if { |fiber, _| !fiber.alive? }
          Work.new([], {})
        end
      end

      # The latest read of the key.
      def take_read(records, key)
        reads = @works[Fiber.current]&.reads
        of_key = reads && reads[key] or return
        at = of_key.rindex { |flight| flight.records.equal?(records) } or return

        of_key.delete_at(at).tap { reads.delete(key) if of_key.empty? }
      end

      # Where reads were no longer noted, one of before them.
      def latest_read
        reads = @works[Fiber.current]&.reads
        reads.values.last&.last if reads && reads.size >= MOST_KEYS
      end
    end
  end
end
