# frozen_string_literal: true

require "test_helper"
require "stringio"

module Larder
  module Lab
    module Commands
      # A trace made here, replayed from the command line to the tables.
      class HitratioTest < ActiveSupport::TestCase
        test "every policy has a row at every size, and the JSON holds the same" do
          with_trace do |trace, dir|
            json = File.join(dir, "out.json")
            status, out, err = hitratio(trace, "--size", "2MiB,50%", "--json", json)
            assert_equal 0, status, err
            Lab::Hitratio::Policies.names.each { |name| assert_match(/^  #{name}( +\d+\.\d\d %){2}$/, out) }
            document = Document.load(json)
            rows = document.chapters.first.details["rows"]
            assert_equal [["2MiB", 2 << 20], ["50%", 16_793_600]], rows.map { |row| row.values_at("size", "capacity") }
            rows.each { |row| assert_equal(Lab::Hitratio::Policies.names, row["outcomes"].map { |one| one["policy"] }) }
            assert_equal [4096, 83_968], rows.map { |row| row["object_bytes"] }
            measure = document.measures.find { |one| one.key == "hitratio/made.trace/50%/larder" }
            assert_equal [rows.last["outcomes"].first["miss_ratio"]], measure.samples
            curves = document.chapters.first.sections.last.blocks.last
            assert_equal Lab::Hitratio::Policies.names, curves.series.map { |line| line["label"] }
          end
        end

        test "what was asked for is what is replayed" do
          with_trace do |trace, _|
            _, out, = hitratio(trace, "--policy", "lru,belady", "--size", "409600")
            assert_no_match(/^ .*(larder|fifo) +\d/, out)
            assert_match(/409600: a cache of 409,600 bytes, of objects of 4,096\./, out)
            assert_match(/^  belady +\d+\.\d\d %$/, out)
          end
        end

        test "a number of objects of one size holds also for a trace that has sizes" do
          with_directory do |dir|
            path = File.join(dir, "sized.csv")
            File.write(path, [*1..30, *1..30].map { |key| "#{key},#{key}" }.join("\n"))
            _, out, = hitratio(path, "--policy", "lru,belady", "--size", "10x1KB")
            assert_match(/^  lru +100\.00 %.*10x1KB: a cache of 10,000 bytes, of objects of 1,000\./m, out)
          end
        end

        test "wrong usage is refused by name, help is not" do
          assert_match(/unknown policy lifo; known: larder, lru/, hitratio("x", "--policy", "lifo").last)
          assert_match(/--size big/, hitratio("x", "--size", "big").last)
          status, _, message = hitratio("zipf:skew=1")
          assert_equal 2, status
          assert_match(/cannot read the trace zipf:skew=1: .*; --list lists patterns and formats/, message)
          status, help, = hitratio("--help")
          assert_equal 0, status
          ["Objects of a trace", "Exit codes", "--policy"].each { |text| assert_includes help, text }
          assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
        end

        test "without a trace every pattern is replayed, made by the seed" do
          usual, quick, seeded = [[], ["--quick"], ["--quick", "--seed", "5"]].map { |given| options(*given) }
          assert_equal %w[zipf scan loop shift], usual.traces
          assert_equal [nil, 40_000], ([usual, quick].map { |each| each.pattern[:requests] })
          assert_operator quick.sizes.size, :<, usual.sizes.size
          assert_equal [1, 1, 5], ([usual, quick, seeded].map { |each| each.pattern[:seed] })
        end

        test "policies, patterns and formats are listed" do
          status, list, = hitratio("--list")
          assert_equal 0, status
          ["larder, lru", "zipf ", "oraclegeneral "].each { |text| assert_includes list, text }
        end

        private

        def options(*arguments)
          Commands.fetch("hitratio").new(nil, nil).options_for(arguments)
        end

        def hitratio(*arguments)
          out = StringIO.new
          err = StringIO.new
          [Lab.run(["hitratio", *arguments], out: out, err: err), out.string, err.string]
        end

        def with_trace
          random = Random.new(3)
          with_directory do |dir|
            path = File.join(dir, "made.trace")
            popular = Array.new(1600) { (400 * (random.rand**2)).to_i }
            File.write(path, [*(0...400), *popular].join("\n"))
            yield path, dir
          end
        end
      end
    end
  end
end
