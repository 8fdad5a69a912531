# frozen_string_literal: true

# What one process of a stampede does: its threads want one key at one moment, one thread reads it again and again
# while it expires, or it is killed while it computes the value.

require_relative "../clock"
require_relative "../contenders"
require_relative "../histogram"

module Larder
  module Lab
    module Loads
      # Calls of one process. Times are seconds of the monotonic clock, which all processes share.
      class Herd
        include Clock

        # Of every call for a key that is absent, and for one that soon expires: memcached counts whole seconds.
        ABSENT = { expires_in: 60, race_condition_ttl: Contenders::SingleFlights::STALE }.freeze
        EXPIRING = { expires_in: 1, race_condition_ttl: Contenders::SingleFlights::STALE }.freeze
        # The value that expires.
        VALUE = "Hello World!"
        # Calls are counted by when they began, in slices of so many seconds.
        SLICE = 0.005
        # How a value is computed: waiting, as for a database, or busy.
        WORK = { "io" => ->(seconds) { sleep(seconds) },
                 "cpu" => lambda do |seconds|
                   finish = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds
                   nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < finish
                 end }.freeze

        # @param store [ActiveSupport::Cache::Store]
        # @param job [Hash{String=>Object}] with "threads" and "block", seconds that a value takes
        def initialize(store, job)
          @store = store
          @job = job
        end

        # All threads call at once.
        # @param key [Array]
        # @param start [Float]
        # @return [Hash{Symbol=>Object}] callers: of each its wait, its processor time, the answer, and what its block
        #   made, if that ran: another value each time
        def rush(key:, start:)
          GC.start
          { callers: Array.new(@job["threads"]) { |number| Thread.new { call(key, start, number) } }.map(&:value) }
        end

        # Is killed while it computes, unless somebody else computes.
        # @param key [Array]
        # @param start [Float]
        # @param after [Float] seconds that it computes
        # @return [Hash] only if it did not compute
        def die(key:, start:, after:)
          wait_for(start)
          @store.fetch(key, **ABSENT) do
            sleep(after)
            Process.kill(:KILL, Process.pid)
            sleep
          end
          {}
        end

        # Writes the value and reads it back to back while it expires, once at least.
        # @param key [Array]
        # @param start [Float]
        # @param seconds [Float]
        # @param work [String] of {WORK}
        # @return [Hash{Symbol=>Object}] slices: histograms of the calls by when they began; runs: when each run of the
        #   block began and ended; wrong: nil, or a list of an answer that is not the value
        def read(key:, start:, seconds:, work:)
          @store.write(key, VALUE, **EXPIRING)
          slices = Hash.new { |all, at| all[at] = Histogram.new }
          runs = []
          wrong = nil
          wait_for(start)
          loop do
            begun = now
            value = @store.fetch(key, **EXPIRING) { timed(runs) { WORK.fetch(work).call(@job["block"]) } }
            took = now - begun
            slices[(begun / SLICE).floor].record((took / Histogram::SECONDS).round)
            wrong ||= [value] unless value == VALUE
            break if now >= start + seconds
          end
          { slices: slices.transform_values(&:to_h), runs: runs, wrong: wrong }
        end

        private

        def call(key, start, number)
          made = nil
          wait_for(start)
          begun = now
          busy = processor_time
          value = @store.fetch(key, **ABSENT) do
            WORK.fetch("io").call(@job["block"])
            made = "#{Process.pid} #{number}"
          end
          { wait: now - begun, busy: processor_time - busy, made: made, value: value }
        end

        # Some stores run the block in another thread.
        def timed(runs)
          begun = now
          yield
          runs << [begun, now]
          VALUE
        end

        def processor_time
          Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
        end

        def wait_for(time)
          left = time - now
          sleep(left) if left.positive?
        end
      end
    end
  end
end
