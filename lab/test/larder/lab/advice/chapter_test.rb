# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Advice
      class RankingTest < ActiveSupport::TestCase
        test "a call is the mean of a write and its reads, with round trips and bytes on the wire to a server" do
          ranking = AdviceRuns.ranking({ hosts: "4", reads: "3" })
          assert_in_delta (50 + (3 * 35)) * 1e-6 / 4, ranking.seconds(choice("larder")), 1e-6
          far = choice("redis", "native", "zstd-3")
          assert_in_delta ((210 + (3 * 150)) * 1e-6 / 4) + 0.5e-3 + (2700 * 8e-9), ranking.seconds(far), 2e-6
          plain = choice("redis", "native", "none")
          estimate = ranking.ratio(plain, far)
          assert_in_delta ranking.seconds(plain) / ranking.seconds(far), estimate.value, 0.01
          assert_equal [true, 6], [(estimate.low...estimate.high).cover?(estimate.value), estimate.sessions]
        end

        test "the advice depends on who shares the values, on the network and on the events that they must survive" do
          { {} => "larder", { hosts: "4", bandwidth: "none" } => "redis + native",
            { hosts: "4", bandwidth: "50mbit" } => "redis + native + zstd-3",
            { survive: "crash" } => "solid_cache + native" }.each { |given, advice| assert_equal advice, best(given) }
          memory = AdviceRuns::STORES.slice("memory", "file")
          assert_equal "memory", best({ shared_by: "nobody" }, stores: memory)
          assert_equal "file + native", best({ survive: "crash" }, stores: memory)
          assert_equal "", best({ survive: "crash" }, stores: AdviceRuns::SERVERS)
        end

        test "the simplest choice is advised where none is shown to be faster in a way that matters" do
          codecs = { %w[default default] => [105, 105, 9000], %w[native none] => [100, 100, 9000] }
          redis = AdviceRuns::STORES.slice("redis")
          ranking = AdviceRuns.ranking({ shared_by: "hosts" }, stores: redis, codecs: codecs)
          assert_equal ["redis + native", "redis"], ranking.choices.map(&:to_s)
          assert_equal "redis", ranking.best.to_s
          noisy = AdviceRuns.ranking({}, stores: redis, noise: 0.9, codecs: codecs)
          assert_equal :unknown, Bench::Verdict.of(noisy.ratio(*noisy.model.choices))
          assert_equal "redis", noisy.best.to_s
        end

        test "for several machines a server that can be a backplane is simpler" do
          stores = AdviceRuns::SERVERS.merge("memcached" => [80, 90]).except("larder")
          assert_equal "memcached + native", best({ shared_by: "hosts" }, stores: stores)
          assert_equal "redis + native", best({ hosts: "4" }, stores: stores)
        end

        test "reasons against a choice exclude it or put it behind" do
          { [{ hosts: "2" }, "larder"] => [true, /each of the 2 machines would have entries of its own/],
            [{}, "memory"] => [true, /each process has entries of its own/],
            [{ survive: "restart", shared_by: "nobody" }, "memory"] => [true, /empty after a restart/],
            [{ survive: "crash" }, "larder"] => [true, /empty after a crash$/],
            [{ survive: "crash" }, "redis"] => [true, /a crash of the server's machine, unless it also writes/],
            [{ size: "20gb" }, "memcached"] => [false, nil],
            [{ size: "100gb" }, "memcached"] => [true, /does not fit into 8.00 GB of memory/],
            [{ disk: "100mb" }, "larder"] => [true, /does not fit into 100 MB of disk/],
            [{ size: "20gb" }, "larder"] => [false, /are read from the disk, which was not measured/],
            [{}, "file"] => [false, /grows until its entries are removed/], [{}, "larder"] => [false, nil] }
            .each do |(answers, store), (final, reason)|
              found = AdviceRuns.ranking(answers).against(choice(store))
              assert_equal [final, reason.nil?], [found.any?(&:final), found.empty?], "#{answers} #{store}"
              assert_match reason, found.first.reason if reason
            end
        end

        private

        def choice(store, serializer = "default", compressor = "default") = Choice.new(store, serializer, compressor)

        def best(...) = AdviceRuns.ranking(...).best.to_s
      end

      class MachinesTest < ActiveSupport::TestCase
        test "a read is a hit or a miss by the hit ratio, and a write goes everywhere" do
          found = machines(hit_ratio: "80%")
          assert_equal [0.8] * 2, %w[80 0.8].map { |text| AdviceRuns.question({ hit_ratio: text }).hit_ratio }
          alone, front, told = found.ways.map { |way| [way.read, way.write].map { |cost| found.model.seconds(cost) } }
          assert_in_delta (0.8 * 35e-6) + (0.2 * (alone.first + 50e-6)), front.first, 1e-6
          assert_in_delta alone.last + 50e-6, front.last, 1e-6
          assert_in_delta front.first, told.first, 1e-9
          assert_in_delta 1e-3, told.last - front.last, 1e-9
        end

        test "without several machines, or without Larder, there is nothing to arrange" do
          refute_predicate machines(hosts: "1"), :any?
          refute_predicate machines(shared_by: "processes"), :any?
          refute_predicate Machines.new(AdviceRuns.ranking({ hosts: "4" }, stores: { "redis" => [90, 100] })), :any?
        end

        test "Larder is put in front where that is shown to be faster, with a backplane unless values expire soon" do
          { {} => "Larder, backplane", { stale: "0.5s" } => "Larder in front", { stale: "0" } => "redis alone",
            { reads: "1.2", hit_ratio: "70%" } => "Larder in front", { hit_ratio: "0" } => "redis alone",
            { reads: "0" } => "redis alone" }.each { |given, way| assert_equal way, machines(**given).best.title }
        end

        private

        def machines(**answers)
          given = { hosts: "4", bandwidth: "none", rtt: "1ms", **answers }
          Machines.new(AdviceRuns.ranking(given, stores: AdviceRuns::SERVERS.slice("larder", "redis")))
        end
      end

      class ChapterTest < ActiveSupport::TestCase
        test "the advice, what is as good, what would be faster, and Larder in front of it" do
          words = AdviceRuns.chapter({ hosts: "4" }, stores: AdviceRuns::SERVERS).conclusions.join("\n")
          assert_match(/\ATake redis \+ native: [\d.]+ µs a call, the mean of a write and 10 reads\.$/, words)
          assert_match(/^No difference that matters is shown from: .*memcached \+ native/, words)
          assert_match(/^larder would take [\d.]+ µs a call, but: each of the 4 machines/, words)
          assert_match(/^Put Larder in front of it, with a backplane: [\d.]+ µs a call in place of 7\d\d µs, /, words)
          assert_match(/front of it is not advised: copies may be old/,
                       AdviceRuns.chapter({ hosts: "4", stale: "0" }, stores: AdviceRuns::SERVERS).conclusions.join)
        end

        test "choices that could not be told apart are not called equal" do
          assert_match(/^This machine was too busy to tell it from: .*Measure again/,
                       AdviceRuns.chapter({}, noise: 0.9).conclusions.join("\n"))
        end

        test "nothing is advised by too few sessions, or if something speaks against each choice" do
          few = AdviceRuns.chapter({}, sessions: 4)
          assert_equal ["Nothing is advised: no difference is shown by fewer than 5 sessions."], few.conclusions
          none = AdviceRuns.chapter({ hosts: "2", size: "1tb" }, stores: AdviceRuns::SERVERS)
          assert_match(/something speaks against each choice/, none.conclusions.first)
          assert_match(/redis; .* memcached \+ marshal: all that is cached does not fit into 8.00 GB of memory/,
                       text(none).gsub(/\s+/, " "))
          other = AdviceRuns.chapter({}, stores: { "litecache" => [50, 90] })
          assert_equal ["Nothing is advised: no store that could be advised was measured."], other.conclusions
          [few, none, other].each do |chapter|
            assert_predicate chapter, :failed?
            refute_includes chapter.sections.map(&:title), "To paste"
          end
        end

        test "the text has intervals and lines" do
          answers = { hosts: "4", stale: "10s" }
          shown = text(AdviceRuns.chapter(answers, stores: AdviceRuns::SERVERS.except("redis"))).gsub(/^  /, "")
          assert_match(/^memcached \+ native \+ zstd-3 +[\d.]+ µs +[\d.]+ \([\d.]+–[\d.]+\)/, shown)
          assert_match(/^Larder, backplane +[\d.]+ µs/, shown)
          assert_match(/\n# Gemfile\ngem "larder"\ngem "dalli"\ngem "redis"\n/, shown)
          assert_match(/local_expires_in: 10\n\}/, shown)
          assert_match(/memcached\s+passes\s+on\s+no\s+messages/, shown)
        end

        test "defaults that were assumed are named, and reports of all forms can be made" do
          made = AdviceRuns.chapter({ reads: "5", survive: "crash" })
          assert_match(/Assumed, because it was not given: --hosts 1, /, made.warnings.join)
          assert_no_match(/--reads|--memory/, made.warnings.join)
          assert_empty ReportSchema.errors(JSON.parse(JSON.generate(document(made).to_h)))
          [Reports::Json, Reports::Html].each do |form|
            assert_operator form.new(document(made)).to_s.size, :>, 500, form
          end
        end

        private

        def document(made) = Document.new(command: "advise", chapters: [made], elapsed_seconds: 1.0, environment: {})

        def text(chapter) = Reports::Text.new(document(chapter), terminal: CLI::Terminal.new(StringIO.new)).to_s
      end
    end
  end
end
