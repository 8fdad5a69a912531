# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Reports
      class Html
        # What charts draw of unusual data.
        class ChartsTest < ActiveSupport::TestCase
          D = Document

          test "twelve series differ without colour" do
            looks = Marks.for([false] * 12)
            assert_equal 12, looks.map { |look| [look.dash, look.shape] }.uniq.size
            assert_nil Marks.for([true]).first.dash
          end

          test "Larder stands out where nobody else is said to" do
            assert Chart.ours?("larder (A/A)")
            refute Chart.ours?("solid_cache")
            said = D::Intervals.build(title: "", sentence: "", x: {},
                                      rows: [{ label: "larder", value: 1, highlight: false }])
            refute_includes drawn(IntervalChart, said), "dot own"
          end

          test "charts without anything to show are drawings all the same" do
            rows = [{ label: "a", note: "why" }, { label: "b" }]
            [D::Intervals.build(title: "", sentence: "", x: {}, rows: rows),
             D::Intervals.build(title: "", sentence: "", x: {}, rows: [], reference: 1.0),
             D::Curves.build(title: "", sentence: "", x: {}, y: {}, series: []),
             D::Curves.build(title: "", sentence: "", x: {}, y: { scale: "log" },
                             series: [{ label: "a", points: [] }, { label: "b", points: [[1, nil]] }]),
             D::Stacked.build(title: "", sentence: "", x: {}, parts: [], rows: []),
             D::Stacked.build(title: "", sentence: "", x: {}, parts: ["a"], rows: [{ label: "a", values: [nil] }])]
              .each { |block| assert_match(/<svg[^>]+viewBox="0 0 720 \d+"/, drawn(CHARTS.fetch(block.kind), block)) }
          end

          test "of many points of a line few are drawn, and the last of them" do
            points = (1..5000).map { |at| [at / 5000.0, at] }
            block = D::Curves.build(title: "", sentence: "", x: {}, y: {}, series: [{ label: "a", points: points }])
            path = drawn(CurveChart, block)[/<path d="(M[^"]+)" class="curve/, 1]
            assert_operator path.count("L"), :<, 600
          end

          test "of many raw samples few are drawn" do
            row = { label: "a", value: 500, dots: (1..1000).to_a }
            block = D::Intervals.build(title: "", sentence: "", x: {}, rows: [row])
            assert_equal 120, drawn(IntervalChart, block)[/<path d="([^"]+)" class="sample/, 1].count("M")
          end

          test "an interval of rates is told from less to more" do
            row = { label: "a", value: 1e-6, low: 0.5e-6, high: 2e-6 }
            block = D::Intervals.build(title: "", sentence: "", x: { format: "rate" }, rows: [row])
            assert_includes drawn(IntervalChart, block), ">500,000–2,000,000<"
          end

          test "a part is as long as its share, whatever scale was asked for" do
            block = D::Stacked.build(title: "", sentence: "", x: { scale: "log" }, parts: %w[a b],
                                     rows: [{ label: "x", values: [30.0, 10.0] }])
            widths = drawn(StackedChart, block).scan(/width="([\d.]+)" height="16" class="part/).flatten.map(&:to_f)
            assert_in_delta 3.0, widths[0] / widths[1], 0.01
          end

          CHARTS = { "intervals" => IntervalChart, "curves" => CurveChart, "stacked" => StackedChart }.freeze

          private

          def drawn(chart, block, width: 720)
            chart.new(block, width).canvas.svg(id: "a", title: "t", description: "d")
          end
        end
      end
    end
  end
end
