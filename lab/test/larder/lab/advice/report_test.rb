# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/report_schema"
require "support/sample_parts"
require "larder/lab/advice/options"
require "larder/lab/advice/report"

module Larder
  module Lab
    module Advice
      class ReportTest < ActiveSupport::TestCase
        # In every form that reads the blocks themselves.
        def chapter(*arguments, parts: SampleParts.build(wobble: 0.02), tried: nil)
          options = Options.new.parse(["--memory", "8gb", "--seed", "1", *arguments])
          Report.new(options, parts).chapter({ ruby: "ruby" }, tried && trial(*tried))
        end

        # What a write and a read of the advised lines took.
        def trial(write, read)
          SampleParts.results("pasted", ["pasted"], {}).tap do |results|
            SampleParts.add(results, "pasted", [1.0, 1.0, 1.0], "write" => write, "read" => read)
          end
        end

        # A server that is fast enough for no compressor to pay, with a round trip of this host in its time.
        def near_redis
          SampleParts.build(stores: { "redis" => [26e-6, 31e-6] }, round_trip: 20e-6)
        end

        def document(chapter)
          Document.new(command: "advise", chapters: [chapter], elapsed: 1.0, environment: {})
        end

        def text(chapter)
          Reports::Text.new(document(chapter), terminal: CLI::Terminal.new(StringIO.new)).to_s
        end

        slow_test "every block of a report is one, also where the order of compressors turns" do
          [%w[--hosts 4], %w[--hosts 1], %w[--hosts 4 --trust --bandwidth none], %w[--hosts 4 --regions 3],
           %w[--shared-by nobody --reads 0], %w[--persistent --size 100gb]].each do |arguments|
            made = chapter(*arguments)
            made.sections.each { |section| assert_empty section.blocks.grep_v(Document::Block), section.title }
            assert_empty ReportSchema.errors(JSON.parse(JSON.generate(document(made).to_h))), arguments.inspect
            assert_operator text(made).size, :>, 1000
          end
        end

        test "compressors on a wire: who is best from where to where, with intervals" do
          shown = text(chapter("--hosts", "4"))
          assert_match(/Compressors on a wire: redis \+ native/, shown)
          assert_match(/Where the order turns, with intervals/, shown)
          assert_match(/^  zstd-3 +none +[\d.]+ [GM]bit/, shown)
        end

        test "in words: the choice, what was left out, what Rails would take, the nearest change" do
          words = chapter("--hosts", "4", "--reads", "20").conclusions.join("\n")
          assert_match(/\ATake redis \+ native \+ zstd-3: [\d.]+ µs a call .* a write and 20 reads\.$/, words)
          assert_match(/^Rails' own Marshal and zlib in redis take 1\.\d+ times as long/, words)
          assert_match(/^larder would take .* but: it is one host's/, words)
          assert_match(/^The nearest change of the answer: --/, words)
        end

        test "for several machines: ways with Larder before the server, why not others, and lines that are a store" do
          arguments = %w[--hosts 4 --regions 2 --hit-ratio 95% --stale 10s --reads 100]
          made = chapter(*arguments)
          shown = text(made)
          assert_match(/^Several machines: Larder before redis$/, shown)
          assert_match(/^  the same, backplane, one +\d/, shown)
          assert_match(/^  redis alone, each † +\d/, shown)
          assert_match(/nothing tells the servers of other\s+regions of a change/, shown)
          assert_match(/^  local_expires_in: 10$/, shown.gsub(/^  /, ""))
          assert_match(/^Put Larder before it, with a backplane, and one server for all regions: /,
                       made.conclusions.join("\n"))
          refute_match(/Several machines/, text(chapter("--hosts", "1")))
          assert_match(/Larder before it is not advised: a copy may be old/,
                       chapter("--hosts", "4", "--stale", "0").conclusions.join("\n"))
        end

        test "a choice that something speaks against says so" do
          words = chapter("--persistent", "--rtt", "0.5ms").conclusions.join("\n")
          assert_match(/\ATake file .*^What speaks against it: it removes nothing when it is full/m, words)
        end

        test "nothing that may be chosen is a failed chapter" do
          made = chapter("--hosts", "2", parts: SampleParts.build(largest: { "redis" => 1000, "memcached" => 1000 }))
          assert_predicate made, :failed?
          assert_match(/Nothing can be advised/, text(made))
        end

        test "a server on the same host is as far away as was measured, and no wire is between" do
          near = chapter("--hosts", "1", parts: SampleParts.build(round_trip: 40e-6))
          assert_match(/^  --rtt +local: 40.0 µs, measured \(assumed\)$/, text(near))
          assert_match(/^  --bandwidth +none \(assumed\)$/, text(near))
          assert_match(/^  --rtt +0.5ms \(assumed\)$/, text(chapter("--hosts", "4")))
        end

        test "lines that take what their parts add up to cause no warning, and those that do not cause one" do
          { [76e-6, 71e-6] => nil,
            [76e-6 * 1.5, 71e-6] => /misses its own trial: a write took 114 µs where .* 76.0 µs\./,
            [76e-6, 71e-6 / 1.5] => /a read took 47.3 µs where the parts add up to 71.0 µs\./ }.each do |times, miss|
            warnings = chapter("--shared-by", "hosts", "--stores", "redis", tried: times, parts: near_redis).warnings
            found = warnings.grep(/its own trial/)
            miss ? assert_match(miss, found.join) : assert_empty(found)
          end
        end

        test "all forms can be made of it" do
          made = document(chapter("--hosts", "4"))
          CommandLine::FORMS.each_key do |form|
            assert_operator Reports.of(form).new(made).to_s.size, :>, 500, form
          end
        end
      end
    end
  end
end
