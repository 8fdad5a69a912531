# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Hitratio
      class ChapterTest < ActiveSupport::TestCase
        test "a published figure stands with the one that was counted here, or with the reason for none" do
          lines = section(row("512MiB", 0), row("1GiB", 1)).blocks.first.rows.to_h { |name, *cells| [name, cells] }
          assert_equal [81_722, 81_722, 1.0, 71_704, 71_704, 1.0], lines["LRU"]
          assert_equal [70_363, Chapter::UNTRIED, nil], lines["LIRS"].first(3)
          untold = section(row("512MiB", 0, requests: 7)).blocks.first.rows.first
          assert_equal ["LRU", 81_722, Chapter::ABSENT, nil], untold.first(4)
        end

        test "the findings say how near the simulations come to the published figures, or that they did not run" do
          assert_match(/miss 1\.000 to 1\.000 times as often as published \(2 of 10 figures\)/,
                       conclusions(row("512MiB", 0)).last)
          assert_match(/None of the 10 published figures was repeated/, conclusions(row("256MiB", 0)).last)
        end

        test "the finding about loops says in how many rows it holds, or that there is none" do
          loop_of_ten = replay(Synthetic.make("loop", objects: 10, requests: 100), %w[lirs lru], "50%").first
          assert_match(/LIRS misses less often than LRU. Here: so in 1 of 1 rows/, notes(loop_of_ten))
          assert_match(/Here: no trace/, notes(row("512MiB", 0)))
        end

        test "the part of the distance to Belady is that of sizes at which each policy ran" do
          misses = { "larder" => 50, "lru" => 60, "fifo" => 70, "belady" => 40 }
          rows = [misses, misses.merge("larder" => nil, "fifo" => 90)].map do |counts|
            Row.new(trace: "any", size: "1%", capacity: 9, requests: 100, footprint: 900, misses: counts)
          end
          assert_match(/covered, in the mean: larder 50 %, fifo -50 %\.\z/, conclusions(*rows).first)
        end

        test "without sizes asked for, the published trace is replayed at the published ones, too" do
          trace = Trace.new("any", Array.new(113_872) { |i| i % 7 }).with_size(100)
          rows = [false, true].map { |published| replay(trace, ["fifo"], "50%", published: published) }
          assert_equal [["50%"], ["50%", "512MiB", "1GiB"]], (rows.map { |each| each.map(&:size) })
        end

        test "in a share of less than a byte nothing is held" do
          assert_equal 6, replay(Synthetic.make("loop", objects: 2, requests: 6), ["lru"], "0.001%").first.misses["lru"]
        end

        test "misses are reported with those of LRU of equal net bytes" do
          requests = Array.new(40_000) { |i| ((i * 7919) % 997)**2 % 9000 }
          row = replay(Trace.new("any", requests, Array.new(requests.size, 2000)), %w[larder lru], "1MiB").first
          assert_operator row.net_misses, :>=, row.misses["lru"], "of LRU in less room"
          assert_operator row.above_net_lru, :<, row.above_lru("larder")
          assert_includes conclusions(row).join, format("objects alone: at most %+.2f points (any at 1MiB)",
                                                        row.above_net_lru * 100)
        end

        private

        def section(*rows) = Chapter.new(rows).to_chapter.sections.first

        def notes(*rows) = section(*rows).blocks.first.notes.last

        def conclusions(*rows) = Chapter.new(rows).to_chapter.conclusions

        def replay(trace, policies, size, **options)
          sizes, progress = [Size.parse(size)], Progress.new(StringIO.new)
          Replay.new(sizes: sizes, policies: policies, progress: progress, **options).run([trace])
        end

        # Misses as published at one of the sizes.
        def row(size, at, requests: 113_872)
          misses = %w[lru belady].to_h { |policy| [policy, ARTICLE.tables.first.rows.fetch(policy)[at + 1]] }
          Row.new(trace: "some.bin", size: size, capacity: 1, requests: requests, footprint: 4 << 30, misses: misses)
        end
      end
    end
  end
end
