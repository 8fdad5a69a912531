# frozen_string_literal: true

require "test_helper"
require "larder/metrics"
require "support/usages"

module Larder
  class Metrics
    class KeyspaceCountsTest < ActiveSupport::TestCase
      include TemporaryCaches

      HITS = "keyspace.hits"

      test "each keyspace has its counts, and all others share a row" do
        given = { hits: 5, misses: 2, stale_hits: 1, stores: 2, stored_bytes: 900, evictions: 1, evicted_age_ms: 2500,
                  waits: 3, computes: 2, compute_us: 1_500_000 }
        found = values(keyspaces: { "users" => given }, rest: { hits: 7 })
        assert_equal({ "hits" => 5, "misses" => 2, "stale_hits" => 1, "stores" => 2, "stored" => 900,
                       "evictions" => 1, "evicted_age" => 2.5, "waits" => 3, "computes" => 2, "compute" => 1.5 },
                     found.select { |id, _| id.start_with?("keyspace.") }
                          .to_h { |id, samples| [id.delete_prefix("keyspace."), samples[label("users")]] })
        assert_equal 7, found[HITS][label("(others)")]
      end

      test "failures have no keyspace" do
        assert_equal({ {} => 4 }, values(keyspaces: { "users" => { hits: 1 } }, rest: { failures: 4 })["failures"])
      end

      test "names of any bytes are text, and two names have two labels" do
        names = ["a\xFFb", "a\\xFFb", "a\nb", "é", ""]
        found = values(keyspaces: names.to_h { |name| [name, { hits: 1 }] })
        assert_equal ["a\\xFFb", "a\\\\xFFb", "a\\x0Ab", "é", "", "(others)"].sort,
                     found[HITS].keys.map { |labels| labels["keyspace"] }.sort
      end

      test "a keyspace with the name of the row of all others is counted there" do
        found = values(keyspaces: { "(others)" => { hits: 2 } }, rest: { hits: 3 })
        assert_equal({ label("(others)") => 5 }, found[HITS])
      end

      test "there are no more than 64 keyspaces and the others, whatever the number of keys and keyspaces" do
        counted = open_cache(statistics: true)
        300.times { |i| 3.times { |k| counted.set("space#{i}/#{k}", "x") } }
        counted.keep_statistics
        assert_includes 2..65, KeyspaceCounts.read(path_of)[HITS].size
      end

      test "the last hour has its hit ratio, its saved time and the age of what was evicted" do
        minutes = { NOW - 600 => [{ hits: 6, misses: 2, evictions: 2, evicted_age_ms: 9000 },
                                  { "users" => { hits: 6, computes: 2, compute_us: 500_000 } }],
                    NOW - 7000 => [{ hits: 9, misses: 91 }, {}] }
        found = values(keyspaces: { "users" => {} }, minutes: minutes)
        assert_equal([{ {} => 0.75 }, { {} => 1.5 }, { {} => 4.5 }, { {} => 0.0 }],
                     found.values_at("last_hour.hit", "last_hour.saved", "last_hour.evicted_age", "statistics_age"))
      end

      test "an hour without reads has no hit ratio, and one without evictions no age" do
        assert_equal [nil, { {} => 0.0 }, nil],
                     values({}).values_at("last_hour.hit", "last_hour.saved", "last_hour.evicted_age")
      end

      test "without statistics, or with a file that is not one, there are no counts" do
        open_cache
        assert_equal({}, KeyspaceCounts.read(path_of))
        File.write("#{path_of}.stats", "text" * 4096)
        assert_equal({}, KeyspaceCounts.read(path_of))
      end

      NOW = Usages::NOW
      private_constant :NOW

      private

      def values(given)
        KeyspaceCounts.values(Usages.usage(**given), NOW)
      end

      def label(keyspace)
        { "keyspace" => keyspace }
      end
    end
  end
end
