# frozen_string_literal: true

require "test_helper"
require "zlib"
require_relative "../../../rakelib/house/environment"

module Foreign
  # The traces that come with the sources are of applications with users of their own.
  class TracesTest < ActiveSupport::TestCase
    TRACES = Dir[File.join(House::ROOT, "proof/foreign/traces/*.trace")]
    # A header, the name of a template, or a call with numbers and hashes alone.
    LINE = %r{\A(?:larder-trace\t1\t\h{12}\t\d+\t\d+|s\t\d+\tviews/[\w/.-]+|[a-z+]\t[\da-z]+(?:\t[\da-z]*)*)\Z}

    TRACES.each do |trace|
      test "#{File.basename(trace)} has calls, hits and misses, and no keys" do
        lines = Zlib::GzipReader.zcat(File.open(trace, "rb")).lines(chomp: true)
        assert_empty lines.grep_v(LINE)
        reads = lines.grep(/\Ar\t/).map { |line| line.split("\t", -1)[6] }
        assert_operator reads.count("1"), :>, 50
        assert_operator reads.count("0"), :>, 50
        assert_operator File.size(trace), :<, 300 * 1024
      end
    end

    test "there is a trace" do
      assert_not_empty TRACES
    end
  end
end
