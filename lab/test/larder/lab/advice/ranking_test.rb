# frozen_string_literal: true

require "test_helper"
require "support/sample_parts"
require "larder/lab/advice/flips"

module Larder
  module Lab
    module Advice
      class RankingTest < ActiveSupport::TestCase
        def ranking(parts = SampleParts.build, **answers)
          SampleParts.ranking(parts, **answers)
        end

        def reasons(ranking, about, final: true)
          ranking.objections(final: final).select { |name, _| name == about }.map(&:last).join
        end

        test "on one host Larder as it is; on several the server, and why Larder is left out" do
          assert_equal "larder", ranking.best.to_s
          four = ranking(hosts: "4")
          assert_equal "redis + native + zstd-3", four.best.to_s
          assert_match(/each of 4 would fill its own/, reasons(four, "larder"))
          assert_equal "larder", ranking(hosts: "4", shared_by: "processes").best.to_s
        end

        test "the memory store only where no process must see another's" do
          assert_match(/every process has its own/, reasons(ranking, "memory"))
          assert_includes ranking(shared_by: "nobody").choices.map(&:store), "memory"
        end

        test "a file store that nobody prunes comes after all others" do
          clear, behind = ranking(trust: "yes").choices.partition { |choice| choice.store != "file" }
          assert_equal clear + behind, ranking(trust: "yes").choices
          assert_match(/grows until/, reasons(ranking, "file", final: false))
        end

        test "types that a serializer loses leave it out" do
          lossy = ranking(SampleParts.build(losses: { "json" => ["Symbol becomes String"] }))
          refute_includes lossy.choices.map(&:serializer), "json"
          assert_match(/Symbol becomes String/, reasons(lossy, "json"))
        end

        test "Marshal on a server that is not trusted is put behind, Rails' default with it" do
          distrusting = ranking(hosts: "4")
          assert_match(/runs code/, reasons(distrusting, "marshal on a server", final: false))
          choices = distrusting.choices
          assert_operator choices.index { |one| one.serializer == "marshal" }, :>,
                          choices.rindex { |one| one.serializer != "marshal" }
          assert_empty ranking(hosts: "4", trust: "yes").objections(final: false).to_h.slice("marshal on a server")
        end

        test "a Redis shared with jobs, or one that does not evict" do
          assert_match(/jobs need.*noeviction/, reasons(ranking(redis_shared_with_jobs: "yes"), "redis"))
          assert_equal "memcached", ranking(hosts: "2", redis_shared_with_jobs: "yes").best.store
          assert_match(/refuses writes/, reasons(ranking(redis_policy: "noeviction"), "redis", final: false))
          assert_match(/only what expires/, reasons(ranking(redis_policy: "volatile-lru"), "redis", final: false))
        end

        test "what must survive a crash, and what does not fit into memory" do
          assert_match(/empty after a crash/, reasons(ranking(persistent: "yes"), "larder"))
          assert_match(/RDB or AOF/, reasons(ranking(persistent: "yes"), "redis", final: false))
          large = ranking(hosts: "2", size: "10gb", memory: "4gb")
          assert_match(/9.00 GB do not fit into 4.00 GB/, reasons(large, "redis + native"))
          assert_equal "redis + native + zstd-3", large.best.to_s
        end

        test "what hosts share and must survive a crash is in a database" do
          stores = SampleParts::STORES.merge("solid_cache-postgresql" => [900e-6, 500e-6])
          found = ranking(SampleParts.build(stores: stores), hosts: "4", persistent: "yes")
          assert_equal "solid_cache-postgresql", found.best.store
          assert found.constraints.clear?(found.best)
        end

        test "a value that a store refuses" do
          small = ranking(SampleParts.build(largest: { "redis" => 1000, "memcached" => 1000 }), hosts: "2")
          assert_nil small.best
          assert_match(/refuses a value of/, reasons(small, "redis"))
        end

        test "what does not differ by more than the noise ties with the first" do
          assert_empty ranking(SampleParts.build(wobble: 0.001), hosts: "2").ties.select { |one| one.store == "file" }
          noisy = ranking(SampleParts.build(wobble: 0.3), hosts: "2")
          assert_includes noisy.ties.map(&:to_s), "memcached + native + zstd-3"
        end

        test "several regions: the mean machine is far from the server" do
          three = ranking(hosts: "3", regions: "3", rtt: "1ms", region_rtt: "30ms")
          assert_in_delta 61e-3 / 3, three.model.circumstances.rtt, 1e-9
        end

        test "what would change the answer" do
          found = Flips.new(ranking(hosts: "4", bandwidth: "1gbit")).all
          hosts = found.find { |flip| flip.input == "--hosts" }
          assert_equal ["4", "1", "larder"], [hosts.now, hosts.change, hosts.choice.to_s]
          assert(found.any? { |flip| flip.input == "--bandwidth" && flip.change.start_with?("above") })
          assert_equal found.filter_map(&:factor).sort_by { |factor| Math.log(factor).abs }, found.filter_map(&:factor)
        end

        test "at the bandwidth that changes the answer both take as long" do
          now = ranking(hosts: "4", bandwidth: "1gbit", trust: "yes")
          flip = Flips.new(now).all.find { |each| each.input == "--bandwidth" }
          there = ranking(hosts: "4", bandwidth: "#{(1e9 / flip.factor).round}bit", trust: "yes").model
          one, other = [now.best, flip.choice].map { |choice| there.mixed(choice).value }
          assert_in_delta 1.0, one / other, 1e-3
        end

        test "what no longer fits changes the answer by size" do
          flip = Flips.new(ranking(hosts: "2", size: "10gb", memory: "4gb")).all.find { |each| each.input == "--size" }
          assert_match(/\Aabove 14.8 GB/, flip.change)
          assert_equal "zlib", flip.choice.compressor
        end
      end
    end
  end
end
