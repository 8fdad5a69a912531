# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # Codecs measured for real, from the command line to the tables.
      class CodecsTest < ActiveSupport::TestCase
        test "compressors: a row for each, both directions and wires, and the published table" do
          chapter, out = measured("compressors", *SHORT, "--only", "none,gzip-6,zlib,lz4_flex", "--payload",
                                  "ruby:'some text ' * 5000")
          %w[none gzip-6 zlib].each { |name| assert_match(/^  #{name} +[\d,]+( +[\d.]+ [mnµ]s){2}$/, out) }
          assert_match(/^  10.0 Gbit\/s +none +\S+ +\S+$/, out)
          assert_match(/^  Snappy +895,496 +– +3086.8 +–/, out)
          assert_match(/^  LZ4Flex +878,160 +– +1959.3 +–$/, out) if RUBY_VERSION < "3.2"
          assert_equal %w[compress_given decompress_given], turns(chapter).map(&:first).uniq
        end

        slow_test "compressors and serializers: each published row is measured here or says why not" do
          [%w[compressors published-b compress_books],
           %w[serializers published-c dump_books,round_trip_books]].each do |command, suite, blocks|
            _, out = measured(command, *SHORT, "--blocks", blocks)
            assert_no_match(/invalid/, out)
            Published.of(suite).tables.first.rows.each_value do |title, *figures|
              assert_match(/^  #{title} +(\S+ +){2,}.*#{figures.last}/, out)
            end
          end
        end

        slow_test "serializers: what keeps the value and what brings a likeness back" do
          _, out = measured("serializers", *SHORT, "--only", "larder,marshal,json,xml,protobuf", "--blocks",
                            "dump_records_50,load_records_50,round_trip_records_50")
          assert_match(/^  larder +[\d,]+ /, out)
          assert_match(/^  json \* +/, out)
          assert_match(/brings back a likeness/, out)
        end

        slow_test "strategies: sizes and times on a server of its own, first calls and warm ones" do
          run = lab("strategies", *SHORT, "--quick", "--only", "binary,json,protobuf", env: { "COLUMNS" => "120" })
          skip "redis-server is not installed" if run.out.include?("redis-server is not on the PATH")
          assert_equal 0, run.status, run.out
          assert_match(/^  Binary +6 +[\d.]+ +[\d.]+ +16 +[\d.]+ +[\d.]+$/, run.out)
          assert_match(/^  XML +311 +– +– +792 +– +– +9.8 +–/, run.out)
          assert_match(/^  binary +[\d,]+( +[\d.]+ \S+){6}$/, run.out)
        end

        test "strategies: a server that does not answer is a line that says so" do
          run = lab("strategies", *SHORT, "--only", "binary", "--blocks", "read_50", "--url",
                    "redis=redis://127.0.0.1:1", env: { "COLUMNS" => "150" })
          assert_equal 1, run.status
          assert_match(/binary: (the server does not answer: .*127\.0\.0\.1:1|its gems are not installed)/, run.out)
        end

        slow_test "matrix: every cell end to end, and the store's own part" do
          blocks = %w[read read_bytes write].product(%w[default native_none]).map { |words| words.join("_") }
          _, out = measured("matrix", *SHORT, "--only", "larder,memory,null", "--blocks", blocks.join(","))
          assert_match(/^  - null: read, default; .*: the store keeps nothing$/, out)
          assert_match(/^  serializer: native, compressor: none$/, out)
          assert_match(/^  serializer: default, compressor: default$/, out)
          %w[larder memory].each { |row| assert_equal 2, out.scan(/^  #{row} +[\d,]+( +[\d.]+ [mµ]s){3}$/).size }
        end

        test "a quick run goes without long blocks, and a payload of the user's is measured only where it is given" do
          blocks = ->(*arguments) { options_of(*arguments).plans.first.blocks.map(&:key) }
          assert_includes blocks["strategies"], "read_50000"
          assert_empty blocks["strategies", "--quick"].grep(/50000/)
          assert_includes options_of("strategies", "--quick").left_out, "read_50000"
          assert_equal %w[lz4-9 zstd-9 gzip-1 gzip-9], options_of("compressors", "--quick").left_out
          assert_equal %w[rails], options_of("serializers", "--quick").left_out
          assert_empty blocks["compressors"].grep(/given/)
          assert_equal %w[compress_given decompress_given], blocks["compressors", "--payload", "ruby:1"]
          assert_equal 50 << 20, options_of("strategies").plans.first.size
          assert_equal %w[larder file redis memcached], options_of("matrix").contenders
        end
      end
    end
  end
end
