# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Hitratio
      class ChapterTest < ActiveSupport::TestCase
        test "the trace with published results is known by its requests, and shown beside them" do
          rows = [row(512 << 20, "512MiB", 0), row(1024 << 20, "1GiB", 1)]
          chapter = Chapter.new(rows).to_chapter
          section = chapter.sections.find { |each| each.title.start_with?("Beside the published misses") }
          table = section.blocks.first
          lru = table.rows.find { |cells| cells.first == "lru" }
          assert_equal [81_722, 81_722, 1.0], lru[1, 3]
          assert_equal [71_704, 71_704, 1.0], lru[6, 3]
          lirs = table.rows.find { |cells| cells.first == "lirs" }
          assert_equal [70_363, nil, nil], lirs[1, 3]
          assert_match(/miss 1\.000 to 1\.000 times as often as published \(4 figures\)/, chapter.conclusions.last)
        end

        test "another trace, or another size, is beside nothing" do
          [row(512 << 20, "512MiB", 0, requests: 113_871), row(256 << 20, "256MiB", 0)].each do |one|
            assert_nil(Chapter.new([one]).to_chapter.sections.find { |each| each.title.start_with?("Beside") })
          end
        end

        test "without sizes asked for, the published trace is replayed at the published ones, too" do
          trace = Trace.new("any", Array.new(Published::REQUESTS) { |i| i % 7 }, Array.new(Published::REQUESTS, 100))
          progress = Progress.new(CLI::Terminal.new(StringIO.new))
          sizes = [Size.parse("50%")]
          rows = [false, true].map do |published|
            Replay.new(sizes: sizes, policies: ["fifo"], progress: progress, published: published).run([trace])
          end
          assert_equal [["50%"], ["50%", "512MiB", "1GiB"]], (rows.map { |each| each.map(&:size) })
        end

        test "the longest copying in one set is reported, of a cache that is too small" do
          row, conclusions = replayed(1000, "2MiB")
          most = row.outcomes.first.stats[:most_copied]
          assert_operator most, :<, 100
          assert_includes conclusions, "larder copied at most #{most} objects in one set to make room (any at 2MiB)."
        end

        test "misses are reported beside those of LRU of equal net bytes" do
          row, conclusions = replayed(2000, "1MiB")
          net = row.outcomes.first.stats[:net_bytes]
          assert_operator net, :>, 1 << 19
          assert_operator net, :<, 1 << 20
          assert_operator row.net_misses, :>=, row.outcomes.last.misses, "of LRU in less room"
          assert_operator row.above_net_lru, :<, row.miss_ratio("larder") - row.miss_ratio("lru")
          assert_includes conclusions.join, format("%+.2f points from those of exact LRU (any at 1MiB)",
                                                   row.above_net_lru * 100)
        end

        private

        # One trace of objects of so many bytes, through the engine and LRU.
        def replayed(object_bytes, size)
          requests = Array.new(40_000) { |i| ((i * 7919) % 997)**2 % 9000 }
          trace = Trace.new("any", requests, Array.new(requests.size, object_bytes))
          progress = Progress.new(CLI::Terminal.new(StringIO.new))
          rows = Replay.new(sizes: [Size.parse(size)], policies: %w[larder lru], progress: progress).run([trace])
          [rows.first, Chapter.new(rows).to_chapter.conclusions]
        end

        def row(capacity, size, at, requests: Published::REQUESTS)
          outcomes = %w[lru belady].map do |policy|
            Outcome.new(policy: policy, misses: Published::MISSES.fetch(policy)[at], missed_bytes: 10)
          end
          Row.new(trace: "some.bin", size: size, capacity: capacity, requests: requests, requested_bytes: 100,
                  footprint: 4 << 30, outcomes: outcomes)
        end
      end
    end
  end
end
