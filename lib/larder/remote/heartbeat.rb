# frozen_string_literal: true

# Tells other machines that the owners of leases in the remote store are alive, and finds out which are not.

require "concurrent/map"
require "larder/bytes/application"
require "larder/bytes/monotonic_clock"

module Larder
  module Remote
    # A lease in the remote store ends by a delete of its key, so its entry must not be written a second time: that
    # would bring back a lease which a delete has ended. Instead, a process with leases that are older than a second
    # writes an entry of its own for each of them every second, with a higher number each time. A process that has
    # seen the same lease without a higher number for {SILENCE} seconds of its own monotonic clock takes the owner for
    # dead. No clocks of two machines are compared.
    #
    # The thread that writes exists only while there are leases. No lock is held while it writes.
    # @api private
    class Heartbeat
      include MonotonicClock

      # Seconds between two beats.
      EVERY = 1
      # Seconds without a beat after which an owner counts as dead.
      SILENCE = 3
      # Seconds after which the remote store forgets a beat.
      KEPT = 10
      # Leases of others that are remembered.
      MOST_SEEN = 1000
      # When a lease began, and what is called with an error of a beat.
      Lease = Struct.new(:since, :report)
      # The last beat of a lease and when it was first seen, or the first look at the lease.
      Sight = Struct.new(:beat, :at)
      private_constant :EVERY, :KEPT, :MOST_SEEN, :Lease, :Sight

      # @param remote [Remote::Client]
      def initialize(remote)
        @remote = remote
        @mutex = Mutex.new
        @leases = {}
        @beat = 0
        @pid = nil
        @seen = Concurrent::Map.new
      end

      # Beats while the block runs.
      #
      # @param keys [Array<String>] of the entries that are written
      # @param report [#call] called with errors, in another thread
      # @return [Object] what the block returns
      def while_running(keys, report)
        keys.each { |key| add(key, Lease.new(monotonic_now, report)) }
        yield
      ensure
        @mutex.synchronize { keys.each { |key| @leases.delete(key) } }
      end

      # @param lease [String] the text of another process's lease
      # @yieldreturn [Integer, nil] its last beat; not asked for at the first look at the lease
      # @return [Boolean] true if this process has looked for {SILENCE} seconds, and its owner has not shown life
      def silent?(lease)
        sight = @seen[lease]
        return see(lease, nil) unless sight

        beat = yield
        return see(lease, beat) if beat && beat != sight.beat

        monotonic_now - sight.at >= SILENCE
      end

      private

      def add(key, lease)
        @mutex.synchronize do
          @leases = {} unless @pid == Process.pid # those of the process that forked this one
          @pid = Process.pid
          @leases[key] = lease
          @thread = Thread.new { run } unless @thread&.alive?
        end
      end

      def run
        Thread.current.name = "larder-heartbeat"
        loop do
          sleep(EVERY)
          due = @mutex.synchronize { due_leases } || break
          send_beats(due) unless due.empty?
        end
      end

      # @return [Hash{String=>Lease}, nil] leases that are old enough; nil: there are none at all, and the thread ends
      def due_leases
        return @thread = nil if @leases.empty?

        latest = monotonic_now - EVERY
        @leases.select { |_, lease| lease.since <= latest }
      end

      def send_beats(due)
        @beat += 1
        Application.in_executor do # the remote store may take a connection to a database
          @remote.write_multi(due.transform_values { ActiveSupport::Cache::Entry.new(@beat) }, KEPT)
        end
      rescue StandardError => e # also of the application's executor: the next beat is due all the same
        due.each_value.first.report.call(e)
      end

      # @return [false]
      def see(lease, beat)
        @seen.delete(@seen.keys.first) if @seen.size >= MOST_SEEN
        @seen[lease] = Sight.new(beat, monotonic_now)
        false
      end
    end
  end
end
