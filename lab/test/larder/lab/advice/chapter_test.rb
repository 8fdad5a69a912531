# frozen_string_literal: true

require "test_helper"
require "support/advice_runs"
require "larder/lab/reports"

module Larder
  module Lab
    module Advice
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
