# frozen_string_literal: true

require "test_helper"
require "larder/lab/network/chapter"
require "larder/lab/network/options"

module Larder
  module Lab
    module Network
      # Results made by hand, so that what follows from them is known.
      class ModelTest < ActiveSupport::TestCase
        test "a call takes its time without a network, a round trip, and the bits by the bandwidth" do
          parts = model.parts(row("redis"), "megabyte", "read", Point.new(0.001, 1e9))
          assert_equal [0.002, 0.001, 0.008], parts
          assert_equal [1e-6, 0.0, 0.0], model.parts(row("larder"), "megabyte", "read", LOCAL)
        end

        test "predictions are set beside what was measured" do
          checks = model.checks.select { |check| check.row == row("redis") && check.operation == "read" }
          assert_equal [Point.new(0.001, nil), Point.new(0.001, 1e9)], checks.map(&:point)
          assert_in_delta 1.0 / 3, checks.first.error
          assert_in_delta 0.0, checks.last.error
        end

        test "round trips of a call follow from what a longer one adds" do
          assert_in_delta 2.0, model.trips(row("redis"), "megabyte", "read").value
          assert_nil model.trips(row("larder"), "megabyte", "read")
        end

        test "a codec pays below the bandwidth at which both take as long" do
          deal = model.deal(row("marshal+zstd-3"), row("marshal+none"))
          assert_equal :below, deal.verdict
          # 500,000 bytes fewer each way for 8 ms more.
          assert_in_delta 1e9, deal.bandwidth.value, 1
        end

        test "a codec that costs more and saves nothing never pays, a faster and smaller one always does" do
          assert_equal :never, Model::Deal.new(seconds: estimate(1, 2), bits: -8).verdict
          assert_equal :always, Model::Deal.new(seconds: estimate(-2, -1), bits: 8).verdict
          assert_equal :above, Model::Deal.new(seconds: estimate(-2, -1), bits: -8).verdict
          assert_equal :open, Model::Deal.new(seconds: estimate(-1, 1), bits: 8).verdict
        end

        test "the chapter says all that, and its charts hold what their sentences say" do
          chapter = Chapter.new(results).to_chapter
          words = chapter.conclusions.join(" ")
          assert_includes words, "marshal+zstd-3 is faster than marshal+none below 1.00 Gbit/s"
          assert_includes words, "redis waits for more than one round trip a call: 2.00 (2.00–2.00) for a read"
          assert_includes words, "takes 4,000 (4,000–4,000) times as long as from larder"
          assert_match(/The model .* is off by/, words)
          charts = chapter.sections.flat_map(&:blocks).select { |block| block.kind == "curves" }
          assert_equal [[0.0, 0.002], [0.001, 0.004]], charts.first.series.find { |s| s["label"] == "redis" }["points"]
          assert_includes charts.first.sentence, "redis from 2.00 ms to 4.00 ms"
          assert(chapter.measures.any? { |each| each.key == "network/megabyte/read/1000us/1000000000bit/redis" })
          assert_equal JSON.parse(chapter.to_h.to_json), JSON.parse(round_trip(chapter).to_h.to_json)
        end

        private

        def round_trip(chapter)
          Document::Chapter.from_h(JSON.parse(JSON.generate(chapter.to_h)))
        end

        def estimate(low, high)
          Statistics::Estimate.new(value: (low + high) / 2.0, low: low, high: high)
        end

        def model
          Model.new(results)
        end

        def row(name)
          results.plan.rows.find { |row| row.name == name }
        end

        def results
          @results ||= begin
            plan = Options.parse(%w[--only larder,redis --rtt 1ms --bandwidth 1gbit --rounds 4 --seed 1
                                    --payload megabyte --codecs marshal+none,marshal+zstd-3]).plan
            Results.new(plan, { cores: 2 }).tap { |results| fill(results) }
          end
        end

        def fill(results)
          sizes = { "marshal+zstd-3" => 500_000 }
          results.plan.rows.each do |row|
            results.add(row, 1, "event" => "size", "payload" => "megabyte", "bytes" => sizes.fetch(row.name, 1_000_000))
            row.points.product(%w[read write], [1, 2, 3, 4]).each do |point, operation, round|
              results.add(row, round, "event" => "block", "payload" => "megabyte", "operation" => operation,
                                      "rtt" => point.rtt, "bandwidth" => point.bandwidth, "calls" => 10,
                                      "seconds" => 10 * seconds(row, point))
            end
          end
        end

        # Of redis a call without a limit waits for two round trips, with one it is as predicted.
        def seconds(row, point)
          case row.name
          when "larder" then 1e-6
          when "redis" then { nil => 0.002 + (2 * point.rtt), 1e9 => 0.011 }.fetch(point.bandwidth)
          when "marshal+none" then 0.002 + (point.bandwidth ? 0.008 : 0)
          else 0.006 + (point.bandwidth ? 0.004 : 0)
          end
        end
      end
    end
  end
end
