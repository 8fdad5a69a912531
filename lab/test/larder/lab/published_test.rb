# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class PublishedTest < ActiveSupport::TestCase
      test "a factor is written as a number of times, a word, or as alike" do
        words = [2.5, 4.0, nil, "more"].map { |factor| Published::Finding.new(factor: factor).words }
        assert_equal ["2.5 ×", "4 ×", "alike", "more"], words
      end

      SUITES = %w[published-a published-b published-c published-d published-e matrix].freeze

      test "the rows, blocks and columns of each finding and each table exist" do
        SUITES.each do |key|
          article = Published.of(key)
          suite = Suites.fetch(key)
          article.findings.each do |finding|
            names = [finding.faster, finding.slower].flatten
            assert_equal names.uniq, suite.registry.check(names)
            [finding.block, *finding.slower_block].each { |block| assert suite.fetch(block) }
          end
          article.tables.each do |table|
            assert_equal table.rows.keys, suite.registry.check(table.rows.keys)
            table.columns.flat_map(&:of).each { |block| assert suite.fetch(block) }
          end
        end
        Published.articles.each_value.flat_map(&:tables).each do |table|
          assert_equal [table.columns.size + 1], table.rows.values.map(&:size).uniq
        end
        policies = Published.of("hitratio").tables.first.rows.keys
        assert_equal policies, Hitratio::Policies.check(policies)
      end

      test "no pair of rows is in two findings of a block, and only figures, words or nothing are published" do
        Published.articles.each_value do |article|
          pairs = article.findings.map do |finding|
            [[finding.faster, finding.slower].map { |side| Array(side) }.sort, finding.block, finding.figure,
             finding.slower_block]
          end
          assert_equal pairs.uniq, pairs
          words = [nil, "more", "far more", "not given", "recommended"]
          assert_empty article.findings.map(&:factor).grep_v(Float) - words
        end
      end

      # Findings that follow from a table, as a chapter names them: of neighbours, and of the best and the worst row.
      DERIVED = {
        "snappy/lz4_flex: compress books" => "1.58 ×", "lz4_flex/lz4: compress books" => "1.78 ×",
        "lz4/zstd-3: compress books" => "3.95 ×", "zstd-3/brotli-5: compress books" => "7.76 ×",
        "brotli-5/gzip-6: compress books" => "alike", "snappy/gzip-6: compress books" => "88.19 ×",
        "brotli-5/zstd-3: bytes, books" => "alike", "zstd-3/lz4_flex: bytes, books" => "1.5 ×",
        "lz4_flex/lz4: bytes, books" => "alike", "lz4/snappy: bytes, books" => "alike",
        "snappy/none: bytes, books" => "1.14 ×", "brotli-5/none: bytes, books" => "1.77 ×"
      }.freeze

      # How often each factor is that of a finding which follows from no table.
      FACTORS = { "published-a" => { "4 ×" => 3, "2.5 ×" => 1, "2 ×" => 2, "1.5 ×" => 6, "far more" => 2, "more" => 8,
                                     "alike" => 11, "not given" => 1 },
                  "published-e" => { "0.97 ×" => 1, "0.98 ×" => 3, "1.18 ×" => 1, "1.26 ×" => 1, "2.2 ×" => 1,
                                     "2.23 ×" => 1 },
                  "published-d" => { "not given" => 2 }, "matrix" => { "recommended" => 3 } }.freeze

      # Rows of the published tables, transcribed from the articles, not from {Published}, with each figure as it is
      # printed; nil is what was not given.
      ROWS = {
        "published-b" => [["none", "1,023,931", nil], ["Snappy", "895,496", "3086.8"], ["LZ4Flex", "878,160", "1959.3"],
                          ["LZ4", "879,179", "1101.4"], ["Zstd", "587,085", "278.5"], ["Brotli", "577,629", "35.9"],
                          ["Gzip", nil, "35.0"], ["1.00 Mbit/s", "brotli-5"], ["100 Mbit/s", "zstd-3"],
                          ["1.00 Gbit/s", "snappy"], ["10.0 Gbit/s", "none"]],
        "published-c" => [["MessagePack", "78.0", "155.6"], ["Marshal", "63.0", "114.6"], ["AS::JSON", "61.5", "76.3"],
                          ["JSON", "61.4", "74.8"]],
        "published-d" => [["Binary", "498", "410", "4.9"], ["XML", "311", "792", "9.8"], ["JSON", "174", "446", "6.6"],
                          ["ProtoBuf", "88", "373", "3.5"], ["Binary", "6", "16"], ["XML", "13", "65"],
                          ["JSON", "8", "47"], ["ProtoBuf", "15", "174"]],
        "published-e" => [["/empty/index", "1.233", "0.963", "1.28"], ["/welcome/index", "1.443", "1.151", "1.25"],
                          ["/rezept/index", "1.529", "1.196", "1.28"], ["/rezept/myknzlpzl", "1.522", "1.19", "1.28"],
                          ["/rezept/show/713", "4.149", "3.959", "1.05"],
                          ["/rezept/cat/Hauptspeise", "9.481", "9.292", "1.02"],
                          ["/rezept/cat/Hauptspeise?page=5", "9.844", "9.654", "1.02"],
                          ["/rezept/letter/G", "5.424", "5.202", "1.04"], ["/empty/index", "1.268", "0.954", "1.33"],
                          ["/welcome/index", "1.471", "1.138", "1.29"], ["/rezept/index", "1.56", "1.181", "1.32"],
                          ["/rezept/myknzlpzl", "1.554", "1.177", "1.32"],
                          ["/rezept/show/713", "3.509", "3.203", "1.10"],
                          ["/rezept/cat/Hauptspeise", "4.317", "4.008", "1.08"],
                          ["/rezept/cat/Hauptspeise?page=5", "4.412", "4.118", "1.07"],
                          ["/rezept/letter/G", "4.312", "4.023", "1.07"]],
        "features" => [["memory", "yes", *["no"] * 6], ["file", "yes", "yes", "no", "yes", "yes", "no", "no"],
                       ["memcached", *["yes"] * 7], ["redis", *["yes"] * 7],
                       ["solid cache", *["yes"] * 4, "maybe", "yes", "yes"]]
                      .map { |title, *cells| ["#{title} (published)", *cells] },
        "hitratio" => [["LRU", "81,722", "71,704"], ["S3-FIFO", "76,791", "70,355"], ["ARC", "74,297", "64,772"],
                       ["LIRS", "70,363", "53,924"], ["Belady", "61,594", "48,974"]]
      }.tap { |rows| rows.default = [] }.freeze
      # Rows of tables, cells that have a figure, and findings of each chapter.
      COUNTS = { "published-a" => [0, 0, 34], "published-b" => [7, 12, 12], "published-c" => [4, 8, 8],
                 "published-d" => [8, 20, 38], "published-e" => [4, 32, 24], "matrix" => [0, 0, 3],
                 "features" => [5, 35, 0], "hitratio" => [5, 10, 1] }.freeze

      test "each published row, figure, finding and remark is printed by its chapter though nothing was measured" do
        assert_equal COUNTS, (Published.articles.transform_values do |article|
          rows = article.tables.flat_map { |table| table.rows.values }
          [rows.size, rows.sum { |_, *figures| figures.compact.size }, article.findings.size]
        end)
        COUNTS.each_key do |key|
          lines, words = printed(chapter(key))
          ROWS[key].each { |row| assert(lines.any? { |line| holds?(line, row) }, "#{key}: #{row}") }
          Published.of(key).remarks.each { |text| assert_includes words, text, key }
        end
        SUITES.each do |key|
          names, published, here = comparison(chapter(key)).rows.transpose
          assert_equal names.uniq, names, key
          assert_equal Published.of(key).findings.map(&:words), published, key
          assert_equal ["not measured"], here.uniq, key
          assert_match(/\bnext: /, Published.of(key).remarks.join("\n")) if names.join.include?("next")
        end
        FACTORS.each do |key, factors|
          assert_equal factors, Published.of(key).findings.first(factors.values.sum).map(&:words).tally, key
        end
        assert_equal DERIVED, comparison(chapter("published-b")).rows.to_h { |name, words, *| [name, words] }
      end

      private

      # A chapter of a run in which no published thing was measured.
      def chapter(key)
        case key
        when "hitratio"
          other = Hitratio::Row.new(trace: "other", capacity: 1, requests: 1, misses: {})
          Hitratio::Chapter.new([other]).to_chapter
        else SimulatedRuns.chapter({}, suite: key, rows: [])
        end
      end

      # Its table of findings.
      def comparison(chapter)
        chapter.sections.find { |section| section.title == "Compared with the published findings" }.blocks.first
      end

      # @return [Array(Array<Array<String>>, String)] rows of all tables, as they are printed, and everything else
      def printed(chapter)
        tables = chapter.sections.flat_map(&:blocks).grep(Document::Table)
        lines = tables.flat_map do |table|
          formats = table.columns.map(&:format)
          table.rows.map { |row| row.zip(formats).map { |cell, format| Reports::Figures.text(cell, format) } }
        end
        [lines, tables.flat_map { |table| [table.caption, *table.notes] }.join(" ")]
      end

      # Its first cell, and the others in their order.
      def holds?(line, (title, *figures))
        at = 0
        line.first == title && figures.compact.all? do |figure|
          at = (at + 1...line.size).find { |index| line[index] == figure }
        end
      end
    end
  end
end
