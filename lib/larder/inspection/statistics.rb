# frozen_string_literal: true

# Reads the statistics by keyspace and time, or says why there are none; and their figures for machines.

require_relative "../bytes/usage"
require "time"

module Larder
  module Inspection
    # The statistics next to a cache. `usage`: nil where there are none; `problem`: nil, or why there are none.
    Statistics = Struct.new(:usage, :problem) do
      # @param path [String] of the cache
      # @return [Statistics]
      def self.of(path)
        usage = Usage.read(path)
        new(usage, (Statistics::NONE unless usage))
      rescue OpenError => error
        new(nil, error.message)
      end

      # @param time [Time]
      # @return [String] for machines
      def self.time(time)
        time.getutc.iso8601
      end

      # @param counts [Usage::Counts]
      # @return [Hash] for machines
      def self.figures(counts)
        { hits: counts.hits, misses: counts.misses, reads: counts.reads, reads_error: counts.reads_error,
          hit_ratio: counts.hit_ratio, stale_hits: counts.stale_hits, stores: counts.stores,
          stores_error: counts.stores_error, stored_bytes: counts.stored_bytes, evictions: counts.evictions,
          evictions_error: counts.evictions_error, mean_evicted_age: counts.mean_evicted_age, waits: counts.waits,
          computes: counts.computes, mean_compute: counts.mean_compute, failures: counts.failures }
      end
    end
    Statistics::NONE = "no process has kept any (the store has statistics: false)"
  end
end
