# frozen_string_literal: true

require "test_helper"
require "json"
require "larder/cli/inspection"
require "support/command"

module Larder
  module CLI
    # `larder size` in processes of its own, on a file that this one has open.
    class SizeTest < ActiveSupport::TestCase
      include TemporaryCaches
      include Command

      VALUE = ("x" * 1000).freeze
      # So many of these values fit into the file.
      FIT = 3500

      def cache
        @cache ||= open_cache("c.larder", size: 4 << 20)
      end

      def use(key)
        cache.get(key) || cache.set(key, VALUE)
      end

      # A part of the keys is read much more often than others.
      def use_many(calls, keys: 10 * FIT)
        random = Random.new(7)
        calls.times { use((keys * (random.rand**3)).to_i.to_s) }
      end

      # The real figures of a run depend on the keys of the sample.
      def shape(text)
        text.gsub(/\d+ %( of|\.)/, "N %\\1")
            .gsub(/^( *[\d.]+ MiB) +\d+ % hits( \+-\d+ *)?\s*\[[#-]{30}\]/, "\\1 N % \\2")
            .gsub(/ \+-\d+ */, "+-E")
      end

      test "a larger file is proposed where it has more hits, with the command" do
        use_many(200_000)
        text = done("size", "c.larder")
        assert_equal <<~TEXT, shape(text)
          Cache c.larder

          A larger file would help: twice the size would answer about N % of reads instead of N %.

            larder resize c.larder 8MB # replaces the cache by an empty one

             2.0 MiB N % +-E
             4.0 MiB N %    now
             8.0 MiB N % +-E
            16.0 MiB N % +-E

          To evict nothing, the file would need more than 16.0 MiB.
        TEXT
        ratios = text.scan(/(\d+) % hits/).flatten.map { |figure| Integer(figure) }
        assert_equal ratios.sort, ratios
        assert_operator ratios.first, :<, ratios.last - 10
      end

      test "a smaller file is proposed where it has as many hits" do
        random = Random.new(7)
        150_000.times do |i|
          use(random.rand(200).to_s)
          use("once #{i}") if (i % 10).zero?
        end
        text = done("size", "c.larder")
        assert_match(/^A smaller file would do: half the size would answer about \d+ % of reads instead of/, text)
        assert_match(/^  larder resize c.larder 2MB #/, text)
      end

      test "the figures are one line for machines" do
        use_many(100_000)
        figures = JSON.parse(done("size", "c.larder", "--json"))
        assert_equal [path_of("c.larder"), 4 << 20, true], figures.values_at("file", "size_bytes", "evicts")
        assert_in_delta cache.stats[:hit_ratio], figures["hit_ratio"], 0.001
        assert_equal([2 << 20, 8 << 20, 16 << 20], figures["sizes"].map { |size| size["size_bytes"] })
        assert_equal %w[error hit_ratio reads size_bytes], figures["sizes"].first.keys.sort
      end

      test "it says how full the file is where everything fits" do
        100.times { |i| use(i.to_s) }
        assert_equal "Cache c.larder\n\nEverything fits, and a larger file would not help: nothing was evicted.\n" \
                     "The file is N % full.\n", done("size", "c.larder").sub(/\d+ % full/, "N % full")
      end

      test "a file with few items is large enough, also if it has evicted others before" do
        (FIT * 2).times { |i| use(i.to_s) }
        cache.each_key.each_slice(1000) { |keys| cache.delete_multi(keys) }
        100.times { |i| use(i.to_s) }
        evicted = cache.stats[:evictions]
        assert_operator evicted, :>, 0
        shown = done("size", "c.larder")
        assert_match(/^A larger file would hardly help: the items need less than five eighths of this one\.$/, shown)
        assert_match(/^#{Words.count(evicted)} of [\d,]+ stored items were evicted \(\S+ %\)\.$/, shown)
      end

      test "there is no estimate from too few reads" do
        (FIT + (FIT / 4)).times { |i| use(i.to_s) }
        assert_match(/\A.*\n\nToo few reads yet to tell: \d+ reads of the sample so far\.\n.* has it open\.\n\z/,
                     done("size", "c.larder"))
      end

      test "sizes that a cache cannot have are left out" do
        @cache = open_cache("least.larder", size: Cache::MIN_SIZE)
        use_many(50_000)
        sizes = JSON.parse(done("size", "least.larder", "--json"))["sizes"]
        assert_equal([2 << 20, 4 << 20], sizes.map { |size| size["size_bytes"] })
      end

      test "it makes nothing, and explains itself" do
        assert_equal 1, refused(/no file nowhere/, "size", "nowhere")
        assert_equal 2, refused(/unexpected argument 8MB.*larder size --help/m, "size", "c.larder", "8MB")
        assert_match(/Usage: larder size \[PATH\] \[--json\].*larder resize 512MB/m, done("size", "--help"))
        assert_empty Dir.children(directory)
      end
    end
  end
end
