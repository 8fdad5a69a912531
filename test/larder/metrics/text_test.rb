# frozen_string_literal: true

require "test_helper"
require "larder/metrics"
require "support/exposition"
require "support/promtool"

module Larder
  class Metrics
    class TextTest < ActiveSupport::TestCase
      include TemporaryCaches

      FAMILIES = [
        Family.new("larder_hits_total", :counter, nil, "Reads.\nA \\ line.", [Sample.new({}, 3)]),
        Family.new("larder_age_seconds", :gauge, :seconds, "Age.",
                   [Sample.new({ "keyspace" => "a\\b\"c\nd", "other" => "é" }, 0.25), Sample.new({}, 1e-7)])
      ].freeze

      test "the format of Prometheus has each metric with its description, type and values" do
        assert_equal <<~'TEXT', Text.write(FAMILIES, :prometheus)
          # HELP larder_hits_total Reads.\nA \\ line.
          # TYPE larder_hits_total counter
          larder_hits_total 3
          # HELP larder_age_seconds Age.
          # TYPE larder_age_seconds gauge
          larder_age_seconds{keyspace="a\\b\"c\nd",other="é"} 0.25
          larder_age_seconds 1.0e-07
        TEXT
      end

      test "OpenMetrics names a counter without its suffix, has units, and an end" do
        text = Text.write(FAMILIES, :openmetrics)
        assert_equal "# HELP larder_hits Reads.\\nA \\\\ line.\n# TYPE larder_hits counter\nlarder_hits_total 3\n",
                     text.lines.first(3).join
        assert_includes text, "# TYPE larder_age_seconds gauge\n# UNIT larder_age_seconds seconds\n"
        assert text.end_with?("\n# EOF\n")
      end

      test "OpenMetrics is written if the client names it" do
        prometheus = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
        answers = [prometheus, "application/openmetrics-text;q=0", "text/plain", "*/*", "", nil]
        assert_equal %i[openmetrics prometheus prometheus prometheus prometheus prometheus],
                     (answers.map { |accept| Text.wanted(accept) })
      end

      test "the metrics of a busy cache are read back by a strict reader, in both formats" do
        busy
        plain = Exposition.new(Metrics.text(path_of))
        open = Exposition.new(Metrics.text(path_of, format: :openmetrics), open: true)
        assert_equal plain.names, open.names
        assert_equal 1, plain["larder_hits_total"]
        assert_equal({ "keyspace" => "a\\\\b\"\\x0A" },
                     plain.families.fetch("larder_keyspace_hits_total").samples.keys.map(&:last).first)
      end

      test "promtool finds no fault" do
        skip Promtool::MISSING unless Promtool.there?

        busy
        assert_equal ["", true], promtool(Metrics.text(path_of))
        assert_equal false, promtool("larder_hits_total{ 1\n").last
      end

      private

      def busy
        counted = open_cache(statistics: true)
        key = "a\\b\"\n/1"
        counted.get(key)
        counted.set(key, "x")
        counted.get(key)
        counted.keep_statistics
      end

      def promtool(text)
        output, status = Promtool.run("check", "metrics", stdin_data: text)
        [output, status.success?]
      end
    end
  end
end
