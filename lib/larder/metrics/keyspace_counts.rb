# frozen_string_literal: true

# The metrics that come from the statistics by keyspace and time.

require_relative "../bytes/usage"
require_relative "../inspection/key_text"

module Larder
  class Metrics
    # @api private
    module KeyspaceCounts
      HOUR = 3600
      # The label of all keyspaces that have no row of their own.
      REST = "(others)"
      COUNTS = {
        "hits" => :hits.to_proc, "misses" => :misses.to_proc, "stale_hits" => :stale_hits.to_proc,
        "stores" => :stores.to_proc, "stored" => :stored_bytes.to_proc, "evictions" => :evictions.to_proc,
        "evicted_age" => ->(counts) { counts.evicted_age_ms / 1e3 }, "waits" => :waits.to_proc,
        "computes" => :computes.to_proc, "compute" => ->(counts) { counts.compute_us / 1e6 }
      }.freeze
      private_constant :HOUR, :COUNTS

      module_function

      # @param path [String] of the cache
      # @param now [Time]
      # @return [Hash{String=>Hash}] samples by id; empty: there are no statistics, or they cannot be read
      def read(path, now: Time.now)
        usage = Usage.read(path, hours: false)
        usage ? values(usage, now) : {}
      rescue OpenError
        {}
      end

      # @param usage [Usage]
      # @param now [Time]
      # @return (see .read)
      def values(usage, now)
        hour = usage.last(HOUR, now: now)
        ages = { "statistics_age" => [now - usage.changed, 0.0].max, "last_hour.hit" => hour.whole.hit_ratio,
                 "last_hour.saved" => hour.saved, "last_hour.evicted_age" => hour.whole.mean_evicted_age }
        whole = { "failures" => usage.rest.failures, **ages.compact }
        by_keyspace(usage).merge(whole.transform_values { |value| { {} => value } })
      end

      # Labels are text that a key can be found by. Two names have the same one only if it is REST.
      def by_keyspace(usage)
        rows = usage.keyspaces.map { |keyspace| [Inspection::KeyText.shown(keyspace.name), keyspace.counts] }
        sums = [*rows, [REST, usage.rest]].group_by(&:first).transform_values { |same| same.map(&:last).reduce(:+) }
        COUNTS.to_h do |name, count|
          ["keyspace.#{name}", sums.to_h { |keyspace, counts| [{ "keyspace" => keyspace }, count.call(counts)] }]
        end
      end
      private_class_method :by_keyspace
    end
  end
end
