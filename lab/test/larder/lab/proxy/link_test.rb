# frozen_string_literal: true

require "test_helper"
require "larder/lab/proxy/link"

module Larder
  module Lab
    class Proxy
      class LinkTest < ActiveSupport::TestCase
        test "without a limit everything arrives after the delay, in order" do
          link = Link.new(0.5, nil)
          assert_equal 10.5, link.put(:a, "first", 5, 10.0)
          assert_equal 11.0, link.put(:b, "second", 1_000_000, 10.5)
          assert_equal 10.5, link.next_due
          assert_nil link.take(10.49)
          assert_equal [:a, "first"], link.take(10.5).to_a.last(2)
          assert_nil link.take(10.9)
          assert_equal [:b, "second"], link.take(12.0).to_a.last(2)
          assert_nil link.next_due
          assert_nil link.take(100.0)
        end

        test "a chunk leaves when those before it have left" do
          link = Link.new(0.0, 8000.0)
          assert_equal 11.0, link.put(:a, "x", 1000, 10.0)
          assert_equal 13.0, link.put(:b, "y", 2000, 10.1)
          assert_equal 13.0, link.put(:a, :eof, 0, 10.2)
        end

        test "a free link makes nobody wait" do
          link = Link.new(0.25, 8000.0)
          assert_equal 1.375, link.put(:a, "x", 125, 1.0)
          assert_equal 5.375, link.put(:a, "x", 125, 5.0)
        end
      end
    end
  end
end
