# frozen_string_literal: true

# The figures of the published comparison of stores, to be shown beside one's own. They are from Rails 8 on a 4 GB
# virtual machine (mean of 5 runs); none was measured by the lab.

module Larder
  module Lab
    # The published findings that this lab can repeat.
    module Published
      # Where the figures come from.
      SOURCE = "measured elsewhere: Rails 8, 4 GB virtual machine, n = 100,000, mean of 5 runs"

      # One statement: `faster` was `factor` times as fast as `slower`; where that is no number, "more" or "far
      # more"; with nil, both were alike.
      Finding = Struct.new(:faster, :slower, :workload, :pass, :factor, keyword_init: true) do
        # @return [String] how they compared, in a cell
        def verdict
          factor.is_a?(Numeric) ? "#{factor.to_s.delete_suffix(".0")} ×" : factor || "alike"
        end
      end

      ONE = "one-thread"
      FIVE = "threads-as-published"

      # @return [Array<Finding>]
      FINDINGS = [
        ["litecache", "redis", ONE, "hit", 4.0],
        ["litecache", "redis", ONE, "miss", 2.5],
        ["litecache", "redis", FIVE, "hit", 4.0],
        ["litecache", "redis", FIVE, "miss", 4.0],
        ["memcached", "redis", ONE, "hit", nil],
        ["memcached", "redis", ONE, "miss", nil],
        ["redis", "valkey", ONE, "hit", 1.5],
        ["redis", "valkey", ONE, "miss", 1.5],
        ["valkey", "dicedb", ONE, "hit", nil],
        ["valkey", "dicedb", ONE, "miss", nil],
        ["redis", "dragonfly", ONE, "hit", "far more"],
        ["redis", "dragonfly", ONE, "miss", "far more"],
        ["redis", "solid_cache-postgresql", ONE, "hit", 2.0],
        ["solid_cache-postgresql-tuned", "solid_cache-postgresql", ONE, "hit", 1.5],
        ["solid_cache-postgresql-tuned", "solid_cache-postgresql", ONE, "miss", 1.5],
        ["solid_cache", "redis", ONE, "hit", nil],
        ["solid_cache", "solid_cache-postgresql-tuned", ONE, "miss", "more"],
        ["solid_cache", "solid_cache-postgresql-tuned", FIVE, "miss", 2.0]
      ].map { |row| Finding.new(**%i[faster slower workload pass factor].zip(row).to_h).freeze }.freeze
    end
  end
end
