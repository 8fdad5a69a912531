# frozen_string_literal: true

require "test_helper"
require "zlib"

module Larder
  module Lab
    module Hitratio
      class FormatsTest < ActiveSupport::TestCase
        test "integers, one a line, compressed or not" do
          plain, *packed = ["# made by hand\n7\n9\n7\n", Zlib.gzip("7\n9\n7\n"), Zlib.gzip("7\n") + Zlib.gzip("9\n7\n")]
                           .map { |data| read("t.trace", data) }
          [plain, *packed].each do |trace|
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

      class SyntheticTest < ActiveSupport::TestCase
        test "a name of a pattern is one, unless a file has it" do
          assert %w[zipf scan loop shift].all? { |text| Synthetic.named?(text) }
          assert %w[zip zipf:skew=1 ./loop zipf.gz].none? { |text| Synthetic.named?(text) }
          with_directory do |dir|
            Dir.chdir(dir) { File.write("loop", "1\n") && assert_not(Synthetic.named?("loop")) }
          end
        end

        test "the same seed makes the same trace, another seed another" do
          first, again, other = [1, 1, 2].map { |seed| Synthetic.make("zipf", requests: 1000, seed: seed).requests }
          assert_equal first, again
          assert_not_equal first, other
        end

        test "zipf: the n-th object is asked for by Zipf's law" do
          counts = Synthetic.make("zipf", objects: 1000, requests: 200_000).requests.tally.values.sort.reverse
          assert_in_delta 2**0.9, counts[0].fdiv(counts[1]), 0.2
          assert_in_delta 10**0.9, counts[0].fdiv(counts[9]), 1.0
        end

        test "scan: rows of objects that are never asked for again" do
          trace = Synthetic.make("scan", objects: 50, requests: 250)
          rows = [20...30, 50...60].map { |range| trace.requests[range] }
          assert_equal 20, rows.flatten.uniq.size
          again = rows.flatten.map { |object| trace.following[trace.requests.index(object)] }
          assert_equal [Trace::NEVER], again.uniq
        end

        test "shift: other objects are popular after a while, also in a short run" do
          parts = Synthetic.make("shift", objects: 10_000, requests: 10_000).requests
          popular = parts.each_slice(2000).map { |part| part.tally.max_by(10, &:last).map(&:first) }
          assert_empty popular[0] & popular[1]
        end
      end
    end
  end
end
