# frozen_string_literal: true

require "active_support/cache/larder_store"
require "support/dashboard_case"
require "support/dashboard_tables"

module Larder
  class Dashboard
    module Pages
      class ComputationsTest < DashboardCase
        include DashboardTables

        def store
          @store ||= ActiveSupport::Cache::LarderStore.new(path_of)
        end

        test "values that are being computed are listed, that which takes longest first" do
          store.write("report/old", 1, expires_in: 0.05, stale_if_error: 60)
          sleep 0.01 while store.cache.exist?("report/old")
          store.fetch("report/new", single_flight: true) do
            sleep 0.02
            store.fetch("report/old", single_flight: true) { page("computations").size }
          end
          rows = rows_of("Values that are being computed")
          assert_equal %w[report/new report/old], rows.map(&:first)
          assert_equal [Process.pid.to_s] * 2, rows.map { |row| row[3] }
          assert_equal ["callers wait", "the old value may be served"], rows.map(&:last)
          page("computations")
          assert_includes main, "Other misses are not listed. None."
        end

        test "keyspaces are in the order of the time that computing took" do
          store.fetch("slow/1") { sleep 0.05 }
          3.times { |number| store.fetch("quick/#{number}") { 1 } }
          store.cache.keep_statistics
          page("computations", time: "day")
          rows = rows_of("Keyspaces in the last day, by the time of computing")
          assert_equal %w[slow quick], rows.map(&:first)
          assert_equal %w[1 3], rows.map { |row| row[3] }
          page("computations", time: HOSTILE)
          assert_includes main, "Misses in the last hour 4"
        end

        test "counts are shown with what they mean" do
          store.fetch("k", single_flight: true) { store.delete("k") }
          page("computations")
          counts = rows_of("Counts since the file was made").to_h { |label, number, _| [label, number] }
          assert_equal %w[1 0 1], counts.values_at("Computed for all", "Waits", "Lost leases")
        end

        test "a cache that is not used yet explains the options" do
          store.read("k")
          store.cache.keep_statistics
          page("computations")
          assert_includes main, "single_flight: true"
          assert_includes main, "No value was computed in the last hour."
        end

        test "a cache without statistics says why there are none" do
          ActiveSupport::Cache::LarderStore.new(path_of("other"), statistics: false).read("k")
          use(cache: path_of("other"))
          page("computations")
          assert_includes main, "There are no statistics by keyspace and time: no process has kept any"
        end

        test "keys of any bytes are shown as text" do
          store.fetch("<b>&\"'\u202e\0", single_flight: true) { page("computations").size }
          assert_equal ["<b>&\"'\\xE2\\x80\\xAE\\x00"], rows_of("Values that are being computed").map(&:first)
          assert_no_match(/<b>/, last_response.body)
        end

        test "of very many values those that began first are listed" do
          store.fetch("first", single_flight: true) do
            120.times { |number| store.level.records.lease("k#{number}", 60_000, nil, nil) }
            page("computations").size
          end
          rows = rows_of("Values that are being computed")
          assert_equal [50, "first"], [rows.size, rows.first.first]
          assert_includes main, "71 others began later."
        end
      end
    end
  end
end
