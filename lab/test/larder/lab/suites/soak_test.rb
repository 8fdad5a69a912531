# frozen_string_literal: true

require "test_helper"
require "active_support/core_ext/integer/time"
require "larder/lab/suites"

module Larder
  module Lab
    module Suites
      class SoakTest < ActiveSupport::TestCase
        test "a chart has the median of all processes, as the table next to it" do
          found = [[10, 20], [30, 60]].map { |bytes| { "disk" => bytes } }
          block = Suites.fetch("soak").fetch("full")
          assert_equal [[1, 20], [2, 40]], block.curves.last.points.call(found)
          assert_in_delta 40, block.columns.find { |column| column.title == "disk" }.of(found)
        end

        test "a failure is as long as a line has room for" do
          store = Object.new
          store.define_singleton_method(:fetch) { |*| raise JSON::ParserError, "no end " * 40 }
          contender = Struct.new(:store, :size, :endpoint, :disk_bytes).new(store, 1 << 20)
          error = assert_raises(Unavailable) { Soak.new(contender).use(0.01) }
          assert_match(/\Aall of its calls fail: ParserError: no end no end .{33}\z/, error.message)
        end
      end
    end
  end
end
