# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # A trace made here, replayed from the command line to the tables.
      class HitratioTest < ActiveSupport::TestCase
        test "every policy has a row at every size, and the JSON holds the same" do
          with_directory do |dir|
            trace = File.join(dir, "made.trace")
            random = Random.new(3)
            popular = Array.new(1600) { (400 * (random.rand**2)).to_i }
            File.write(trace, [*(0...400), *popular].join("\n"))
            json = File.join(dir, "out.json")
            run = here("hitratio", trace, "--size", "2MiB,50%", "--json", json)
            assert_equal 0, run.status, run.err
            Lab::Hitratio::Policies.names.each { |name| assert_match(/^  #{name}( +\d+\.\d\d %){2}$/, run.out) }
            document = Document.load(json)
            section = document.chapters.first.sections.last
            assert_match(/2MiB: a cache of 2,097,152 bytes, objects of 4,096 bytes\./, run.words)
            assert_match(/50%: a cache of 16,793,600 bytes, objects of 83,968 bytes\./, run.words)
            measure = document.chapters.first.measures.find { |one| one.key == "hitratio/made.trace/50%/larder" }
            assert_equal [section.blocks.first.rows.first.last], measure.samples
            curves = section.blocks.last
            assert_equal Lab::Hitratio::Policies.names, curves.series.map { |line| line["label"] }
          end
        end

        test "a number of objects of one size holds also for a trace that has sizes" do
          with_directory do |dir|
            path = File.join(dir, "sized.bin")
            File.binwrite(path, [*1..30, *1..30].map { |key| [1, key, key, -1].pack("L<Q<L<q<") }.join)
            out = here("hitratio", path, "--policy", "lru,belady", "--size", "10x1KB").out
            assert_match(/^  lru +100\.00 %.*10x1KB: a cache of 10,000 bytes, objects of 1,000 bytes\./m, out)
          end
        end

        test "the chosen policies run, and Larder only at sizes that a file of it can have" do
          with_directory do |dir|
            json = File.join(dir, "out.json")
            run = here("hitratio", Replay::DEMO, "--policy", "larder,lru", "--size", "1%,4MiB", "--json", json)
            assert_equal 0, run.status, run.err
            assert_match(/1%: a cache of [\d,]+ bytes\. larder did not run: it needs 1,048,576 bytes\./, run.words)
            assert_match(/^  larder +– +\d+\.\d\d %$/, run.out)
            assert_match(/^  lru( +\d+\.\d\d %){2}$/, run.out)
            assert_no_match(/^  (fifo|belady) /, run.out)
            keys = Document.load(json).chapters.first.measures.map { |measure| measure.key.split("/").last(2) }
            assert_equal [%w[1% lru], %w[4MiB larder], %w[4MiB lru]], keys
          end
        end

        test "without a trace every pattern is replayed, made by the seed" do
          usual, quick, seeded = [[], ["--quick"], ["--quick", "--seed", "5"]].map do |given|
            options_of("hitratio", *given)
          end
          assert_equal %w[zipf scan loop shift], usual.traces
          assert_equal [nil, 40_000], ([usual, quick].map { |each| each.pattern[:requests] })
          assert_operator quick.sizes.size, :<, usual.sizes.size
          assert_equal [1, 1, 5], ([usual, quick, seeded].map { |each| each.pattern[:seed] })
        end
      end
    end
  end
end
