# frozen_string_literal: true

require "support/dashboard_case"
require "minitest/mock"
require "support/usages"

module Larder
  class Dashboard
    # The first page.
    class OverviewTest < DashboardCase
      include Usages

      def with_usage(usage, &block)
        Inspection::Statistics.stub(:of, Inspection::Statistics.new(usage, nil), &block)
      end

      # Counts of steps of that many seconds, the last one now.
      def steps(length, numbers, whole, parts)
        last = Time.now.to_i / length * length
        numbers.to_h { |number| [Time.at(last - (number * length)), [whole, parts]] }
      end

      # Some hours and minutes, the last ones now.
      def busy
        count = { hits: 900, misses: 100, stores: 100, computes: 100, compute_us: 200_000_000, stored_bytes: 90_000 }
        parts = { "users" => { hits: 600, misses: 20 }, HOSTILE => { hits: 100, misses: 70, stores: 70 } }
        usage(keyspaces: parts, hours: steps(3600, [0, 1, 2, 7], count, parts),
              minutes: steps(60, [0, 1, 2, 30], count, parts))
      end

      test "it shows hits, what they saved, how full the file is and what is in it" do
        with_usage(busy) do
          text = text_of(page)
          assert_match(/Reads that hit 90 %/, text)
          assert_match(/90 % in the last hour/, text)
          assert_match(/Saved .* of computing in the last day/, text)
          assert_match(/Full \d+ % .*of 8\.0 MiB, 0 items/, text)
          assert_match(/Keyspaces .*users/, text)
          assert_match(/Everything fits, and a larger file would not help/, text)
        end
      end

      test "history is drawn with a title, a description and a table, and names are escaped" do
        with_usage(busy) do
          html = page
          assert_equal 2, html.scan(/<svg [^>]*role="img" aria-labelledby="(?:day|hour)-title"/).size
          assert_match(/<desc id="day-text">Between 90 % and 90 % of reads hit/, html)
          assert_equal 4, html.scan("<polyline").size # runs of three buckets and of one, of each chart
          assert_match(/Most misses/, html)
          refute_includes html, "<script>alert"
          assert_includes html, "&lt;script&gt;alert"
        end
      end

      test "without statistics and reads it says so" do
        text = text_of(page)
        assert_match(/Reads that hit – nothing was read yet Saved/, text)
        assert_match(/There are no statistics by keyspace and time: no process has kept any/, text)
        assert_match(/No problems/, text)
      end

      test "failures of the last day are named, if there are any" do
        with_usage(busy) { refute_match(/failed in the last day/, text_of(page)) }
        with_usage(usage(keyspaces: {}, hours: steps(3600, [3], { failures: 12 }, {}))) do
          assert_match(/12 calls failed in the last day: the log says why/, text_of(page))
        end
      end

      test "rates are those since the last reading of this process" do
        readings = Readings.new
        assert_nil readings.rates("a", { hits: 1, misses: 1, sets: 0, evictions: 0 }, now: 0.0)
        assert_nil readings.rates("a", { hits: 2, misses: 1, sets: 0, evictions: 0 }, now: 1.0)
        rates, seconds = readings.rates("a", { hits: 41, misses: 11, sets: 4, evictions: 0 }, now: 10.0)
        assert_in_delta 10.0, seconds
        assert_in_delta 0.8, rates.hit_ratio
        assert_in_delta 5.0, rates.reads
        assert_nil readings.rates("b", { hits: 2, misses: 1, sets: 0, evictions: 0 }, now: 11.0)
        assert_nil readings.rates("a", { hits: 99, misses: 99, sets: 4, evictions: 0 }, now: 100.0)
      end

      test "problems are shown with their commands" do
        File.chmod(0o644, path_of)
        text = text_of(page)
        assert_match(/1 problem .*mode 644.*chmod 600/, text)
      end

      test "its size does not grow with the number of keys and keyspaces" do
        20_000.times { |i| cache.set("#{"space" * 11}#{i}:#{i}", "v") }
        parts = Array.new(64) { |i| ["#{"k" * 60}#{i}", { hits: 10, misses: 5 }] }.to_h
        counts = [{ hits: 9_000_000, misses: 4_000_000 }, parts.first(16).to_h]
        long = usage(keyspaces: parts, hours: steps(3600, 0..23, *counts), minutes: steps(60, 0..59, *counts))
        with_usage(long) do
          assert_operator page.bytesize, :<, 100_000
        end
      end
    end
  end
end
