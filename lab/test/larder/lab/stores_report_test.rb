# frozen_string_literal: true

require "test_helper"
require "stringio"
require "larder/lab/stores_report/chapter"

module Larder
  module Lab
    module StoresReport
      class ChapterTest < ActiveSupport::TestCase
        TIMES = { "larder" => [1.0e-6] * 5, "larder (A/A)" => [1.02e-6] * 5, "litecache" => [2.0e-5] * 5,
                  "redis" => [8.0e-5] * 5, "null" => [9.0e-7] * 5 }.freeze

        test "no line is longer than the terminal, at 80 and at 120 columns" do
          [80, 120].each do |width|
            lines = report(width: width).lines.map(&:chomp)
            assert_empty(lines.select { |line| line.size > width })
          end
        end

        test "the wide form has calls per second beside the times" do
          assert_match(%r{µs/call +calls/s +times larder}, report(width: 120))
          assert_no_match(%r{calls/s}, report(width: 80))
        end

        test "ratios stand beside the base and differences within the noise are marked" do
          text = report
          assert_match(/^  larder +1\.00  1 +1\.00  1$/, text)
          assert_match(/^  redis +80\.0  80\.0 \(80\.0–80\.0\) +80\.0  80\.0 \(80\.0–80\.0\)$/, text)
          assert_match(/^  larder \(A.A\) +1\.02  1\.02 \(1\.02–1\.02\) ≈/, text)
        end

        test "a store that keeps nothing is not said to hit" do
          assert_match(/^  null .* never hits$/, report)
        end

        test "the published findings stand beside and are marked as measured elsewhere" do
          text = report
          assert_match(/measured elsewhere/, text)
          assert_match(/litecache as redis: hit, 1 thread +4 ×  4\.00 \(4\.00–4\.00\)/, text)
        end

        test "targets are judged from the run" do
          assert_match(/hit at least 4 times as fast as redis +80\.0 \(80\.0–80\.0\)  reached/, report)
          slow = TIMES.merge("redis" => [2.0e-6] * 5)
          assert_match(/hit at least 4 times as fast as redis +2\.00 \(2\.00–2\.00\)  not reached/, report(times: slow))
          without = TIMES.except("redis")
          assert_match(/hit at least 4 times as fast as redis +- +not measured/, report(times: without))
        end

        test "words name a winner only beyond the noise" do
          assert_match(/larder is the fastest shared store; litecache, the next/, words)
          near = TIMES.merge("litecache" => [1.01e-6] * 5)
          assert_match(/no difference is shown between larder and litecache/, words(times: near))
        end

        test "a row that was turned down is there with its reason" do
          text = report { |results| results.reject("redis", :invalid, "a wrong value: 1 instead of 2") }
          assert_match(/^  redis +invalid: a wrong value: 1 instead of 2$/, text)
          assert_match(/^  - redis: invalid, a wrong value: 1 instead of 2$/, text)
        end

        test "hits that were misses and rounds that lie apart cause warnings" do
          apart = TIMES.merge("redis" => [8.0e-5, 8.0e-5, 1.6e-4, 8.0e-5, 8.0e-5])
          text = report(times: apart) do |results|
            results.samples.find { |sample| sample.row == "litecache" && sample.pass == "hit" }.block_runs = 25
          end
          assert_match(/litecache, one thread: 25 % of the hits were misses/, text)
          assert_match(/Rounds lay far apart: redis \(one-thread, miss: 100 %\)/, text.gsub(/\s+/, " "))
        end

        test "the lab's own share of a call is said and subtracted" do
          text = report { |results| results.samples.each { |sample| sample.own = 1.0e-7 } }
          assert_match(/take 100 ns a call, 11 % of the fastest call/, text.gsub(/\s+/, " "))
          assert_match(/^  larder +0\.900  1 +0\.900  1$/, text)
        end

        test "a measure of every row and step relates to the reference loop" do
          results = SampleResults.build(TIMES)
          measures = Chapter.new(results, Comparison.new(results)).to_chapter.measures
          assert_equal TIMES.size * 4, measures.size
          redis = measures.find { |measure| measure.key == "stores/one-thread/hit/redis" }
          assert_equal ["reference", [8.0e-5] * 5], [redis.base, redis.samples]
        end

        test "where the locale has no such characters there are others" do
          io = StringIO.new(String.new(encoding: Encoding::US_ASCII))
          io.set_encoding(Encoding::US_ASCII)
          CLI::Terminal.new(io, environment: {}).puts("µs × 2 ≥ 1…")
          assert_equal "us x 2 >= 1.\n", io.string
        end

        private

        def words(**arguments)
          report(**arguments).gsub(/\s+/, " ")
        end

        def report(times: TIMES, width: 80)
          results = SampleResults.build(times)
          results.twins = ["larder (A/A)", "larder"]
          yield results if block_given?
          terminal = CLI::Terminal.new(StringIO.new, environment: { "COLUMNS" => width.to_s })
          chapter = Chapter.new(results, Comparison.new(results)).to_chapter
          document = Document.new(command: "stores", chapters: [chapter], environment: {}, elapsed: 1.0)
          Reports::Plain.new(document, terminal: terminal).to_s
        end
      end
    end
  end
end
