# frozen_string_literal: true

require "support/store_case"
require "support/dashboard_requests"
require "support/usages"

module Larder
  class Dashboard
    module Pages
      class ComputationsTest < StoreCase
        include DashboardRequests

        setup { self.dashboard = Dashboard.new(cache: store, allow: ->(_) { true }) }

        test "values that are being computed are listed, that which takes longest first" do
          store.write("report/old", 1, expires_in: 0.05, stale_if_error: 60)
          sleep 0.01 while store.cache.exist?("report/old")
          store.fetch("report/new", single_flight: true) do
            sleep 0.02
            store.fetch("report/old", single_flight: true) { get("computations").errors.size }
          end
          rows = rows_of("Values that are being computed")
          assert_equal %w[report/new report/old], rows.map(&:first)
          assert_equal [Process.pid.to_s] * 2, rows.map { |row| row[3] }
          assert_equal ["callers wait", "the old value may be served"], rows.map(&:last)
          get("computations")
          assert_includes text, "Other misses are not listed.None."
        end

        test "keyspaces are in the order of the time that computing took" do
          store.fetch("slow/1") { sleep 0.05 }
          3.times { |number| store.fetch("quick/#{number}") { 1 } }
          store.cache.keep_statistics
          get("computations", "time" => "day")
          rows = rows_of("Keyspaces in the last day, by the time of computing")
          assert_equal %w[slow quick], rows.map(&:first)
          assert_equal %w[1 3], rows.map { |row| row[3] }
          get("computations", "time" => "<script>")
          assert_includes text, "Misses in the last hour4"
        end

        test "counts are shown with what they mean" do
          store.fetch("k", single_flight: true) { store.delete("k") }
          get("computations")
          counts = rows_of("Counts since the file was made").to_h { |label, number, _| [label, number] }
          assert_equal %w[1 0 1], counts.values_at("Computed for all", "Waits", "Lost leases")
        end

        test "a cache that is not used yet explains the options" do
          store.read("k")
          store.cache.keep_statistics
          get("computations")
          assert_includes text, "single_flight: true"
          assert_includes text, "No value was computed in the last hour."
        end

        test "a cache without statistics says why there are none" do
          without = new_store("other.larder", statistics: false)
          self.dashboard = Dashboard.new(cache: without, allow: ->(_) { true })
          get("computations")
          assert_includes text, "There are no statistics by keyspace and time: no process has kept any"
        end

        test "keys of any bytes are shown as text" do
          store.fetch("<b>&\"'\u202e\0", single_flight: true) { get("computations").errors.size }
          assert_equal ["<b>&\"'\\xE2\\x80\\xAE\\x00"], rows_of("Values that are being computed").map(&:first)
          assert_no_match(/<b>/, answer.body)
        end

        test "of very many values those that began first are listed" do
          store.fetch("first", single_flight: true) do
            120.times { |number| store.level.records.lease("k#{number}", 60_000, nil, nil) }
            get("computations").errors.size
          end
          rows = rows_of("Values that are being computed")
          assert_equal [50, "first"], [rows.size, rows.first.first]
          assert_includes text, "71 others began later."
        end
      end
    end
  end
end
