# frozen_string_literal: true

require "test_helper"
require "zlib"

module Larder
  module Lab
    module Commands
      # A small recording, real stores and processes.
      class ReplayTest < ActiveSupport::TestCase
        setup do
          @dir = Dir.mktmpdir("larder-lab-replay-")
          @trace = File.join(@dir, "cache.trace")
          text = ["larder-trace 1 one 1 0", "s 1 views/shop", "z warm 9000", "z b 900",
                  *(0..9).flat_map { |i| request(i, i * 20_000) },
                  "r 190000 9 1 0a 1 0", "w 191000 9 1 0a 1 - 50"]
          File.binwrite(@trace, Zlib.gzip("#{text.join("\n").tr(" ", "\t").gsub("\t-", "\t")}\n"))
        end

        teardown { FileUtils.rm_rf(@dir) }

        test "stores replay a recording with its hits, at the recorded times and as fast as possible" do
          chapter, out = measured("replay", @trace, *SHORT, "--window", "1", "--only", "larder,memory,file")
          samples = chapter.dig("details", "samples").reject { |turn| turn["row"] == "reference" }
          assert_equal %w[fast timed].product(%w[file larder memory]),
                       samples.map { |turn| turn.values_at("block", "row") }.uniq.sort
          assert_equal [11], samples.select { |turn| turn["block"] == "timed" }.map { |turn| turn["calls"] }.uniq
          chapter.dig("details", "recorded").each_value do |facts|
            next unless facts["figures"]

            assert_equal [31, 24], facts.dig("figures", "fast").values_at("reads", "hits").map(&:first)
            assert_in_delta 24 * 0.0034, facts.dig("figures", "fast", "saved").first, 0.01
          end
          assert_match(%r{^  views/shop +21 +66.67 % +6 +2.65 kB}, out)
          assert_match(/4.00 MB suit this recording: by room alone, without expiry and deletes, 23 % of reads miss in/,
                       out.gsub(/\s+/, " "))
        end

        private

        # A read of two keys: each second request finds the first key, and each but the first the second key. A read of
        # a key that was there before; a counter. A first key expires after 50 ms; the last request reads one again.
        def request(i, at)
          fill = ["g #{at + 60} 3000 1 #{i / 2}a 1", "w #{at + 3070} 50 1 #{i / 2}a 1 - 50"] if i.even?
          ["r #{at} 50 1 #{i / 2}a 1 #{i % 2}", "+ b 1 #{[i, 1].min}", *fill, "w #{at + 4000} 9 1 b 1 -",
           "z #{i / 2}a 3000", "r #{at + 4100} 9 1 warm 0 1", "i #{at + 4200} 9 1 count 0 -", "q #{at} 5000 1"]
        end
      end
    end
  end
end
