# frozen_string_literal: true

require "test_helper"
require "zlib"

module Larder
  module Lab
    module Hitratio
      class FormatsTest < ActiveSupport::TestCase
        test "integers, one a line, compressed or not" do
          plain, packed = ["# made by hand\n7\n9\n7\n", Zlib.gzip("7\n9\n7\n")].map { |data| read("t.trace", data) }
          [plain, packed].each do |trace|
            assert_equal [[0, 1, 0], 2, nil], [trace.requests, trace.objects, trace.sizes]
            assert_equal [2, Trace::NEVER, Trace::NEVER], trace.following
          end
          assert_equal [[512, 512, 512], 1024], plain.with_size(512).then { |sized| [sized.sizes, sized.footprint] }
        end

        test "records of oracleGeneral, whatever they say of the future" do
          records = [[1, 5, 100, 9], [1, 6, 200, -1], [2, 5, 150, -1]]
          trace = read("t.oracleGeneral.bin", records.map { |record| record.pack("L<Q<L<q<") }.join)
          assert_equal [[0, 1, 0], [100, 200, 150], 300], [trace.requests, trace.sizes, trace.footprint]
          assert_equal [2, Trace::NEVER, Trace::NEVER], trace.following
        end

        test "what is no trace is refused by name" do
          { "t.bin" => "12345", "t.trace" => "1\ntwo\n", "u.trace" => "\n", "v.gz" => "\x1f\x8bnot".b }
            .each do |name, data|
            assert_match(/#{name.delete_suffix(".gz")}/, assert_raises(UsageError) { read(name, data) }.message)
          end
          assert_match(/missing/, assert_raises(UsageError) { Formats.read("/missing") }.message)
        end

        test "sizes are shares or bytes" do
          given = { "5%" => 500, "0.5%" => 50, "2KiB" => 2048, "512MiB" => 512 << 20, "77" => 77, "1GB" => 10**9 }
          given.each { |text, bytes| assert_equal bytes, Size.parse(text).bytes_of(10_000), text }
          assert_equal [200_000, 100_000], Size.parse("2x100KB").then { |size| [size.bytes_of(1), size.object_bytes] }
          ["", "0", "5 %%", "x", "-1", "3x5%", "0x1KB"].each do |text|
            error = assert_raises(UsageError, text) { Size.parse(text) }
            assert_match(/objects of one size, as 200x100KB/, error.message)
          end
        end

        private

        def read(name, data)
          with_directory do |dir|
            File.binwrite(File.join(dir, name), data)
            Formats.read(File.join(dir, name))
          end
        end
      end
    end
  end
end
