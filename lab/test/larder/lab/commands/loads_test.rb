# frozen_string_literal: true

require "test_helper"
require "zlib"

module Larder
  module Lab
    module Commands
      # Suites that load stores, for real, in processes of their own, from the command line to the report.
      class LoadsTest < ActiveSupport::TestCase
        LATENCY = ["latency", *SHORT, "--block-seconds", "0.1"].freeze
        STAMPEDE = %w[stampede --quick --seed 1 --processes 2 --threads 3 --block-ms 100].freeze
        CAPACITY = %w[capacity --quick --size 8MiB --seed 1 --blocks 10k,1k].freeze
        SOAK = %w[soak --quick --seed 1 --size 4MiB --block-seconds 0.3].freeze

        test "latency: all stores get calls at one rate, and the report holds every histogram" do
          chapter, out = measured(*LATENCY, "--rate", "400", "--only", "memory,larder")
          assert_match(/^Hits at a rate$.* a percentile needs 10 calls that\s+take longer\.$/m, out)
          assert_match(/^ +mean +p50 +p99 .*\n.*\n  larder +[\d.,]+ [mµn]s +[\d.,]+ [mµn]s +–/, out)
          assert_match(/--rate 400(\.0)?, --block-seconds 0\.1,/, out.gsub(/\s+/, " "))
          histograms = figures(chapter)["larder"].transform_values do |block|
            block["histogram"].map { |part| Histogram.from_h(part).count }
          end
          assert_equal %w[hit_at_rate hit_closed miss_at_rate miss_closed], histograms.keys.sort
          assert_equal [[40, 40]] * 2, histograms.values_at("hit_at_rate", "miss_at_rate")
          assert_operator histograms["hit_closed"].min, :>, 40
        end

        test "latency: a store that cannot keep up is named" do
          late = lab(*LATENCY, "--rate", "1000000", "--block-seconds", "0.01", "--only", "file", "--blocks",
                     "hit_at_rate")
          assert_match(/Could not keep up with the rate of hits at a rate: file/, late.out)
        end

        slow_test "scaling: a server and a file are measured by threads and by processes" do
          needs_server("redis")
          chapter, out = measured("scaling", "--quick", "--seed", "1", "--only", "redis,file,null")
          assert_match(/^Hits, by threads/, out)
          assert_match(/^  redis +[\d,]+.* +[\d,]+.* +[\d,]+/, out)
          assert_match(/^  null +[\d,]+/, out)
          found = figures(chapter)
          assert_equal %w[hit_processes hit_threads mixed_processes mixed_threads], found["redis"].keys.sort
          found["file"].each_value do |block|
            assert_equal %w[1 2 4 apart], block.keys
            assert(block.values.all? { |values| values.size == 2 && values.all?(&:positive?) })
          end
          assert_includes measures(chapter), "scaling/mixed_processes/4/redis"
        end

        test "soak: a full store is measured over time, and one that does not limit itself is not" do
          chapter, out = measured(*SOAK, "--require", fixture("liar"), "--only", "larder,file,flaky,broken")
          found = figures(chapter).dig("larder", "full")
          %w[rates tails memory disk].each { |name| assert_equal [20, 20], found[name].map(&:size) }
          assert(found["misses"].all?(&:positive?))
          assert_operator found["disk"].flatten.max, :<=, 6 << 20 # 4 MiB, and the statistics
          assert_match(/^  file +not measured: it does not limit itself: it takes \d+ MB on the disk/, out)
          assert_match(/^  broken +not measured: all of its calls fail: RuntimeError: it is full/, out)
          assert_match(/Calls a second over time, least and most: larder/, out.gsub(/\s+/, " "))
          assert_includes measures(chapter), "soak/full/calls-s/larder"
          failures = figures(chapter).dig("flaky", "full", "failures").map { |all| all["RuntimeError: it is full"] }
          assert(failures.all?(&:positive?))
          assert_match(/#{failures.sum}: RuntimeError: it is full/, out)
        end

        test "stampede: one caller computes for all, also after the first was killed" do
          chapter, out = measured(*STAMPEDE, "--only", "larder-single-flight,memory")
          single, memory = figures(chapter).values_at("larder-single-flight", "memory")
          single.values_at("absent", "killed").each do |found|
            assert_equal [[1], [1], [0]], found.values_at("runs", "answers", "none").map { |all| all.flatten.uniq }
            assert_equal 6 * found["runs"].flatten.size, found["waits"].sum { |waits| waits["count"] }
          end
          assert_operator memory["absent"]["runs"].flatten.min, :>, 1
          assert_nil memory["killed"]
          assert_match(/^  memory +not measured: each caller computes by itself/, out)
          assert_match(/Computations of an absent key that all callers want: larder-single-flight 1, memory \d/,
                       out.gsub(/\s+/, " "))
          assert_match(/no value when the key is absent: larder-single-flight 0, memory 0\./, out.gsub(/\s+/, " "))
          assert_includes measures(chapter), "stampede/killed/median-runs/larder-single-flight"
        end

        slow_test "stampede: dalli's lock answers without a value while another computes" do
          needs_server("memcached")
          chapter, = measured(*STAMPEDE, "--only", "memcached-lock")
          found = figures(chapter).dig("memcached-lock", "absent")
          assert_equal [1], found["runs"].flatten.uniq
          assert_operator found["none"].flatten.max, :>, 0
        end

        test "capacity: held objects are counted, weighed and compared with the limit" do
          chapter, out = measured(*CAPACITY, "--only", "larder,file,null")
          larder, files = figures(chapter).values_at("larder", "file").map { |blocks| blocks.fetch("10k") }
          assert_equal [2, 2], [larder, files].map { |all| all["held"].size }
          larder["held"].each { |held| assert_includes 600..838, held }
          assert_operator larder["disk"].max, :<=, 10 << 20 # 8 MiB, and the statistics
          assert_equal [[1259, 1259], [1259, 1259]], files.values_at("written", "held")
          assert_match(/^  null +not measured: it keeps nothing/, out)
          assert_match(/^  larder .* yes .*^  file +1,259 .* no /m, out)
          keys = %w[10k 1k].product(%w[B-each objects]).map { |parts| "capacity/#{parts.join("/")}/larder" }
          assert_equal keys.sort, measures(chapter).grep(/larder/).sort
          assert_equal %w[100b 1k 10k], Suites.fetch("capacity").blocks.map(&:key), "the smallest first"
        end

        slow_test "capacity: each kind of objects is in a fresh server" do
          needs_server("memcached")
          chapter, = measured(*CAPACITY, "--only", "memcached")
          places = figures(chapter)["memcached"].values.flat_map { |block| block["where"] }
          assert_equal ["memory (server)"], places.uniq
        end

        test "deploy: a restart computes again what was in the process alone, an emptied cache everything" do
          chapter, out = measured("deploy", *SHORT, "--only", "larder,memory,file")
          found = figures(chapter).slice("larder", "memory", "file")
          all = found["memory"]["emptied"]["computed"].first
          assert_operator all, :>, 50
          found.each_value { |blocks| assert_equal [all] * 2, blocks["emptied"]["computed"] }
          restarted = found.transform_values { |blocks| blocks["restart"]["computed"] }
          assert_equal({ "larder" => [0, 0], "memory" => [all] * 2, "file" => [0, 0] }, restarted)
          assert_match(/^  first 50 requests: after a restart\n +computed +a request\n/, out)
          assert_match(/^  memory +#{all} +[\d.]+ ms$/, out)
        end

        test "replay: stores repeat a recording with its hits, at the recorded times and as fast as possible" do
          with_directory do |dir|
            text = ["larder-trace 1 one 1 0", "s 1 views/shop", "z warm 9000", "z b 900",
                    *(0..9).flat_map { |i| request(i, i * 20_000) },
                    "r 190000 9 1 0a 1 0", "w 191000 9 1 0a 1 - 50"]
            trace = File.join(dir, "cache.trace")
            File.binwrite(trace, Zlib.gzip("#{text.join("\n").tr(" ", "\t").gsub("\t-", "\t")}\n"))
            chapter, out = measured("replay", trace, *SHORT, "--window", "1", "--only", "larder,memory,file")
            samples = chapter.dig("details", "samples").reject { |turn| turn["row"] == "reference" }
            assert_equal %w[fast timed].product(%w[file larder memory]),
                         samples.map { |turn| turn.values_at("block", "row") }.uniq.sort
            assert_equal [11], samples.select { |turn| turn["block"] == "timed" }.map { |turn| turn["calls"] }.uniq
            figures(chapter).each_value do |blocks|
              next unless blocks

              assert_equal [31, 24], blocks["fast"].values_at("reads", "hits").map(&:first)
              assert_in_delta 24 * 0.0034, blocks.dig("fast", "saved").first, 0.01
            end
            assert_match(%r{^  views/shop +21 +66.67 % +6 +2.65 kB}, out)
            assert_match(/4.00 MB suit this recording: by room alone, without expiry and deletes, 23 % of reads miss/,
                         out.gsub(/\s+/, " "))
          end
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
