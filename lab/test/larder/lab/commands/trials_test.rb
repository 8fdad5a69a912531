# frozen_string_literal: true

require "test_helper"
require "stringio"

module Larder
  module Lab
    module Commands
      # Codecs tried for real, in processes of their own, from the command line to the tables.
      class TrialsTest < ActiveSupport::TestCase
        include LabHelper

        ONCE = ["--rounds", "1", "--seconds", "0.001", "--seed", "1"].freeze

        test "compressors: a row for each, both directions, and the JSON holds the same" do
          with_directory do |dir|
            json = File.join(dir, "out.json")
            run = lab("compressors", *ONCE, "--rounds", "2", "--only", "none,gzip-6,zlib", "--payload",
                      "ruby:'some text ' * 5000", "--json", json, env: { "COLUMNS" => "120" })
            assert_equal 0, run.status, run.err
            %w[none gzip-6 zlib].each { |name| assert_match(/^  #{name} +[\d,]+ +[\d.]+×/, run.out) }
            assert_match(/zlib up to [\d.]+ [MG]bit/, run.out)
            assert_match(/On a wire, given: .* is the fastest up to/, run.out)
            document = Document.load(json)
            details = document.chapters.first.details
            assert_equal %w[gzip-6 none zlib], details["sizes"].map { |size| size["name"] }.sort
            operations = ["cold compress", "cold decompress", "compress", "decompress", "round trip"]
            assert_equal operations, details["samples"].map { |sample| sample["operation"] }.uniq.sort
            assert_equal 2 * 4 * 5, details["samples"].size # three, and one of them again
            measure = document.measures.find { |one| one.key == "compressors/given/round-trip/zlib" }
            assert_equal [2, "reference"], [measure.samples.size, measure.base]
            kinds = document.chapters.first.sections.first.blocks.map(&:kind)
            assert_equal %w[table intervals curves], kinds
          end
        end

        slow_test "serializers: what keeps the value and what brings a likeness back" do
          run = lab("serializers", *ONCE, "--only", "larder,marshal,json", "--payloads", "hash,records-50",
                    env: { "COLUMNS" => "120" })
          assert_equal 0, run.status, run.err
          assert_match(/^  larder +[\d,]+ +[\d.]+×/, run.out)
          assert_match(/^  json \* +/, run.out)
          assert_match(/brings back a likeness/, run.out)
        end

        slow_test "a codec whose gem is missing is a row that says so" do
          skip "lz4_flex is there" if RUBY_VERSION >= "3.2"
          run = lab("compressors", *ONCE, "--only", "none,lz4_flex", "--payload", "ruby:'x' * 100")
          assert_equal 0, run.status
          assert_match(/^  lz4_flex  not measured: compressor :lz4_flex needs/, run.out)
          assert_match(/Not measured\n  - lz4_flex on given: .*needs the gem\s+lz4_flex/m, run.out)
        end

        slow_test "strategies: sizes and times on a server of its own" do
          run = lab("strategies", *ONCE, "--lengths", "50,10,5", "--only", "binary,json", env: { "COLUMNS" => "120" })
          skip "redis-server is not installed" if run.out.include?("redis-server is not on the PATH")
          assert_equal 0, run.status, run.err
          assert_match(/^  binary +[\d.]+ k?B(?: +[\d.,]+){5}/, run.out)
          beside = /50 records beside the published.*Read.*there.*binary +6\.00.*Write.*binary +16\.0/m
          assert_match(beside, run.out)
          assert_match(/Where strategies cross.* 5 .* 10 .* 50 /m, run.out)
        end

        slow_test "matrix: every cell end to end, and its steps" do
          run = lab("matrix", *ONCE, "--serializers", "native", "--compressors", "none,gzip-6", "--stores",
                    "memory,larder,null", "--payloads", "hash", env: { "COLUMNS" => "200" })
          assert_equal 0, run.status, run.err
          assert_match(/Not measured\n  - (?:\S+ \S+ null(?:, )?){2} on hash: the store keeps nothing/, run.out)
          %w[native].product(%w[none gzip-6], %w[memory larder]) do |cell|
            assert_match(/^  #{cell.join(" +")} +[\d,]+(?: +[\d.,]+){2} +\w+ \d+ %(?: +[\d.,]+){6} /, run.out)
          end
          assert_match(/Of the steps of a write, the store's own is from/, run.out)
        end

        test "what makes no sense is refused, help is not" do
          { ["compressors", "--only", "zip"] => /unknown codec zip; known: none, snappy/,
            ["serializers", "--payloads", "x"] => /unknown payload x; known: books/,
            ["compressors", "--payload", "/missing"] => /no such file; an expression begins with ruby:/,
            ["compressors", "--rounds", "0"] => /--rounds must be more than 0/,
            ["matrix", "--serializers", "yml"] => /unknown serializer yml; known:/,
            ["strategies", "--lengths", "x"] => /--lengths must be more than 0/ }.each do |arguments, message|
            run = here(*arguments)
            assert_equal 2, run.status
            assert_match(message, run.err)
          end
          %w[compressors serializers strategies matrix].each do |command|
            help = here(command, "--help")
            assert_equal 0, help.status
            assert_includes help.out, "Usage: larder-lab #{command}"
            assert_empty(help.out.lines.map(&:chomp).select { |line| line.size > 80 })
            assert_equal 0, here(command, "--list").status
          end
        end

        slow_test "in each table one codec is tried twice, which shows the noise" do
          %w[compressors serializers strategies matrix].each do |name|
            plan = plan(name)
            twins = plan.trials.select(&:twin)
            assert_equal plan.groups, twins.map(&:group)
            twins.each do |trial|
              original = plan.trials.find { |each| each.name == trial.twin && each.group == trial.group }
              assert_equal original.job, trial.job
              assert_not_includes plan.names(trial.group), trial.name
            end
          end
        end

        slow_test "each has less to do with --quick, and the same order with the same seed" do
          %w[compressors serializers strategies matrix].each do |name|
            usual, quick, again = [[], ["--quick"], ["--quick"]].map { |more| plan(name, "--seed", "7", *more) }
            assert_operator quick.trials.size * quick.rounds, :<, usual.trials.size * usual.rounds, name
            assert_operator quick.seconds, :<, usual.seconds
            assert_equal [quick.trials, 7], [again.trials, quick.seed]
          end
        end

        private

        # In this process.
        def here(*arguments)
          out, err = Array.new(2) { StringIO.new }
          status = Lab.run(arguments, out: out, err: err)
          Outcome.new(out: out.string, err: err.string, status: status)
        end

        def plan(name, *arguments)
          Commands.fetch(name).new(nil, nil).options_for(arguments).plan
        end
      end
    end
  end
end
