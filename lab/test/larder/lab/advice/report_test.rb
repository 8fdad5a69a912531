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
        def chapter(*arguments, parts: SampleParts.build(wobble: 0.02))
          options = Options.new.parse(["--memory", "8gb", "--seed", "1", *arguments])
          Report.new(options, parts).chapter({ ruby: "ruby" }, nil)
        end

        def document(chapter)
          Document.new(command: "advise", chapters: [chapter], elapsed: 1.0, environment: {})
        end

        def text(chapter)
          Reports.fetch("plain").new(document(chapter), terminal: Terminal.new(StringIO.new)).to_s
        end

        test "every block of a report is one, also where the order of compressors turns" do
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

        test "a choice that something speaks against says so" do
          words = chapter("--persistent").conclusions.join("\n")
          assert_match(/\ATake file .*^What speaks against it: it removes nothing when it is full/m, words)
        end

        test "nothing that may be chosen is a failed chapter" do
          made = chapter("--hosts", "2", parts: SampleParts.build(largest: { "redis" => 1000, "memcached" => 1000 }))
          assert_predicate made, :failed?
          assert_match(/Nothing can be advised/, text(made))
        end

        test "all forms can be made of it" do
          made = document(chapter("--hosts", "4"))
          %w[data csv markdown html].each do |form|
            assert_operator Reports.fetch(form).new(made).to_s.size, :>, 500, form
          end
        end
      end
    end
  end
end
