# frozen_string_literal: true

# Holds the figures of the published comparison of stores. They are from Rails 8 on a 4 GB virtual machine (mean of 5
# runs); the lab measured none of them, and shows its own figures with them.

module Larder
  module Lab
    # The published findings.
    module Published
      # Where the figures come from.
      SOURCE = "measured elsewhere: Rails 8, 4 GB virtual machine, n = 100,000, mean of 5 runs"
      # The suite whose blocks the findings are about.
      SUITE = "published-a"
      # Calls of a published run, and the runs whose mean was published.
      CALLS = 100_000
      RUNS = 5
      # Statements without a figure.
      REMARKS = [
        "Litecache was not recommended: it did not run on Rails 8, is part of a suite of gems, and was too young.",
        "Dragonfly was left off the charts.",
        "Tuned PostgreSQL: an unlogged table, autovacuum, shared_buffers, and pg_prewarm before the run. The effect " \
        "of pg_prewarm alone was not published; here it has a row of its own, on a table that has pages.",
        "PostgreSQL's memory: no figure that could be compared; the table of memory shows it as measured here."
      ].freeze

      # The factor of a step that was taken, and not measured by itself.
      NOT_GIVEN = "not given"

      # A statement about a block of the suite: `faster` was `factor` times as fast as `slower`. The factor is "more" or
      # "far more" where no number was published, {NOT_GIVEN} where nothing was, and nil where both were alike. One side
      # may be several rows; all of them are meant. `slower_block` is the block of the slower side where it is another
      # one; `label` is the name of a finding that its rows and block do not name.
      Finding = Struct.new(:faster, :slower, :block, :factor, :slower_block, :label, keyword_init: true) do
        # @return [String] how they compared, in a cell
        def words
          factor.is_a?(Numeric) ? "#{factor.to_s.delete_suffix(".0")} ×" : factor || "alike"
        end

        # @return [Array<Array(String, String)>] the pairs of a faster and a slower row
        def pairs
          Array(faster).product(Array(slower))
        end
      end

      # Servers that Redis was faster than with five threads.
      SERVERS = %w[memcached valkey dicedb].freeze
      # Stores that wrote faster than stock PostgreSQL.
      WRITERS = ["litecache", "redis", *SERVERS, "solid_cache", "solid_cache-postgresql-tuned"].freeze

      # @return [Array<Finding>]
      FINDINGS = [
        ["litecache", "redis", "hit", 4.0],
        ["litecache", "redis", "miss", 2.5],
        ["litecache", "redis", "hit_published", 4.0],
        ["litecache", "redis", "miss_published", 4.0],
        ["litecache", "litecache", "miss_published", "more", "miss", "litecache, miss: 5 threads/1"],
        ["memcached", "redis", "hit", nil],
        ["memcached", "redis", "miss", nil],
        ["redis", "valkey", "hit", 1.5],
        ["redis", "valkey", "miss", 1.5],
        ["redis", "dicedb", "hit", 1.5],
        ["redis", "dicedb", "miss", 1.5],
        ["valkey", "dicedb", "hit", nil],
        ["valkey", "dicedb", "miss", nil],
        ["redis", SERVERS, "hit_published", "more"],
        ["redis", SERVERS, "miss_published", "more"],
        ["valkey", "memcached", "hit_published", nil],
        ["valkey", "memcached", "miss_published", nil],
        ["valkey", "dicedb", "hit_published", nil],
        ["valkey", "dicedb", "miss_published", nil],
        ["redis", "dragonfly", "hit", "far more"],
        ["redis", "dragonfly", "miss", "far more"],
        ["redis", "solid_cache-postgresql", "hit", 2.0],
        [WRITERS, "solid_cache-postgresql", "miss", "more"],
        [WRITERS, "solid_cache-postgresql", "hit_published", "more"],
        [WRITERS, "solid_cache-postgresql", "miss_published", "more"],
        ["solid_cache-postgresql-tuned", "solid_cache-postgresql", "hit", 1.5],
        ["solid_cache-postgresql-tuned", "solid_cache-postgresql", "miss", 1.5],
        ["solid_cache-postgresql-tuned", "solid_cache-postgresql", "miss_published", "more"],
        ["solid_cache-postgresql-prewarmed", "solid_cache-postgresql-tuned", "hit", NOT_GIVEN, nil,
         "pg-tuned, hit: with pg_prewarm/without"],
        ["solid_cache", "redis", "hit", nil],
        ["solid_cache", "solid_cache-postgresql-tuned", "miss", "more"],
        ["solid_cache", "solid_cache-postgresql-tuned", "miss_published", 2.0],
        ["solid_cache", "valkey", "hit_published", nil],
        ["solid_cache", "valkey", "miss_published", nil]
      ].map { |row| Finding.new(**Finding.members.zip(row).to_h).freeze }.freeze
    end
  end
end
