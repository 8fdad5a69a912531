# frozen_string_literal: true

require "test_helper"
require "larder/lab/trials/results"
require "larder/lab/trials/runner"
require "larder/lab/trials/chapters/compressors"
require "larder/lab/trials/chapters/serializers"
require "larder/lab/trials/chapters/strategies"

module Larder
  module Lab
    module Trials
      # Results made by hand, so that what follows from them is known.
      class ChaptersTest < ActiveSupport::TestCase
        test "compressors: published sizes and ratios beside those measured" do
          chapter = Chapters::Compressors.new(results("compressors", "books", compressors)).to_chapter
          table = chapter.sections[1].blocks.first
          assert_equal ["smaller", "compress i/s", "times zstd-3"], table.columns.filter_map(&:group).uniq.drop(1)
          snappy = table.rows.find { |row| row.first == "Snappy" }
          assert_equal [895_496, 900_000], snappy[1, 2]
          assert_in_delta 278.5 / 3086.8, snappy[7]
          assert_in_delta 0.1, snappy[8]["value"]
          assert_match(/Brotli is the fastest up to 3\.12 Mbit.*Zstd to 755 Mbit.*Snappy to 3\.17 Gbit/,
                       chapter.sections[1].blocks.last.text)
          assert_match(/On a wire, books: brotli-5 is the fastest up to .*, none above\./, chapter.conclusions.first)
          assert_not_predicate chapter, :failed?
        end

        test "serializers: the round trip and serializing alone, as times Marshal's" do
          times = { "marshal" => [1e-2, 1e-2], "message_pack" => [5e-3, 1e-2], "json" => [1e-2, 3e-2] }
          samples = times.transform_values { |there, back| { "serialize" => there, "deserialize" => back } }
          chapter = Chapters::Serializers.new(results("serializers", "books", samples)).to_chapter
          row = chapter.sections[1].blocks.first.rows.find { |cells| cells.first == "MessagePack" }
          assert_equal [78.0, 63.0 / 78.0], row.values_at(1, 3)
          assert_equal [155.6, 114.6 / 155.6], row.values_at(5, 7)
          assert_in_delta 0.75, row[4]["value"]
          assert_in_delta 0.5, row[8]["value"]
        end

        test "strategies: published milliseconds beside first calls and a warm process" do
          samples = { "binary" => 2.0, "json" => 1.0 }.transform_values do |factor|
            %w[read write].to_h { |what| [what, factor * 1e-3] }
          end
          chapter = Chapters::Strategies.new(results("strategies", "50 records", samples)).to_chapter
          read, write = chapter.sections[1].blocks
          assert_equal ["json", 8, 3e-3, 1e-3, 8 / 6.0], read.rows.last.first(5)
          assert_in_delta 0.5, read.rows.last.last["value"]
          assert_equal 47, write.rows.last[1]
        end

        test "everything that was refused for one reason is one line, and the run has failed" do
          results = results("compressors", "books", {}, names: %w[none zlib])
          results.plan.trials.each { |trial| results.reject(trial.name, trial.group, Unavailable.new("no gem")) }
          chapter = Chapters::Compressors.new(results).to_chapter
          assert_equal ["everything: no gem"], chapter.sections.last.blocks.first.items
          assert_predicate chapter, :failed?
        end

        test "a row says why it is not measured, in short, and the remedy stands below" do
          results = results("compressors", "books", compressors)
          results.reject("snappy", "books", Unavailable.new("compressor :snappy needs the gem snappy: add it"))
          sections = Chapters::Compressors.new(results).to_chapter.sections
          assert_equal ["snappy", "not measured: compressor :snappy needs the gem snappy"],
                       sections.first.blocks.first.rows.last
          assert_equal ["snappy on books: compressor :snappy needs the gem snappy: add it"],
                       sections.last.blocks.first.items
        end

        test "few rounds, another load and rounds far apart cause warnings" do
          results = results("compressors", "books", compressors, environment: { load_average: 3.0, cores: 2 })
          slow = { "event" => "block", "operation" => "compress", "calls" => 1, "seconds" => 9 }
          results.add("none", "books", 4, slow)
          warnings = Chapters::Compressors.new(results).to_chapter.warnings
          [/an impression, not evidence/, /load 3\.0 on 2 cores/, /far apart: none \(books, compress/]
            .zip(warnings) { |warning, said| assert_match warning, said }
        end

        test "a difference within the noise of the row that is measured twice is none, and the row is shown once" do
          results = results("compressors", "books", compressors.merge("quick" => { "compress" => 9e-3,
                                                                                  "decompress" => 4.5e-3 }))
          assert_equal false, quick_is_same?(results)
          twin(results, "zstd-3", "compress" => 8e-3, "decompress" => 4e-3)
          assert_equal true, quick_is_same?(results)
          chapter = Chapters::Compressors.new(results).to_chapter
          assert_match(/two measurements of one codec lay up to 25 % apart/, chapter.warnings.join)
          assert_equal ["none", "snappy", "quick", "zstd-3", "brotli-5"],
                       chapter.sections.first.blocks.first.rows.map(&:first)
        end

        private

        # Is no difference shown between "quick" and the base?
        def quick_is_same?(results)
          Comparison.new(results, "books").cell("quick", "round trip").fetch("same")
        end

        def twin(results, name, fields)
          results.plan.trials << Trial.new(name: "#{name} (A/A)", group: "books", job: {}, twin: name)
          (1..3).each { |round| fill(results, "#{name} (A/A)", "books", round, fields) }
        end

        def compressors
          { "none" => [1e-7, 1_000_000], "snappy" => [1e-3, 900_000], "zstd-3" => [1e-2, 600_000],
            "brotli-5" => [3e-2, 590_000] }
            .transform_values { |seconds, bytes| { "compress" => seconds, "decompress" => seconds / 2, bytes: bytes } }
        end

        # Three rounds in which everything takes as long; first calls take three times as long.
        def results(kind, group, samples, names: samples.keys, environment: {})
          trials = names.map { |name| Trial.new(name: name, group: group, job: {}) }
          plan = Plan.new(kind: kind, trials: trials, titles: { group => group }, rounds: 3, seconds: 0.01, seed: 1,
                          urls: {})
          made = Results.new(plan, environment)
          samples.each { |name, fields| (1..3).each { |round| fill(made, name, group, round, fields) } }
          made
        end

        def fill(results, name, group, round, fields)
          times = fields.except(:bytes)
          results.add(name, group, round, { "event" => "cold", **times.transform_values { |each| each * 3 } })
          times.merge("round trip" => times.values.sum).each do |operation, seconds|
            results.add(name, group, round, { "event" => "block", "operation" => operation, "calls" => 1,
                                              "seconds" => seconds })
          end
          results.add(name, group, round, { "event" => "size", "bytes" => fields[:bytes] || 100, "raw" => 1_000_000,
                                            "keeps" => true })
        end
      end
    end
  end
end
