# frozen_string_literal: true

require "test_helper"
require_relative "../../rakelib/house/counts"

module House
  # How bin/test reads what test programs print.
  class CountsTest < ActiveSupport::TestCase
    test "minitest's runs are split into passed, failed and skipped" do
      assert_equal Counts.new(7, 3, 2), Counts.read("...\n12 runs, 40 assertions, 1 failures, 2 errors, 2 skips\n")
    end

    test "a plain line of counts is read with and without skipped ones" do
      assert_equal Counts.new(3, 1, 0), Counts.read("3 passed, 1 failed\n")
      assert_equal Counts.new(3, 1, 2), Counts.read("3 passed, 1 failed, 2 skipped\n")
    end

    test "what is to be read at the end is found in the output" do
      assert_equal ["8.1 is the newest"], Counts.notes("@note 8.1 is the newest\n@ 3 calls\nfine\n")
    end

    test "the engine's tests are split into passed and failed" do
      assert_equal Counts.new(11, 1, 0), Counts.read("shard_test: 12 tests, 1 failed\n")
      assert_equal Counts.new(13, 0, 0), Counts.read("crash points: 13 tests, 0 failed\n")
      assert_equal Counts.new(9, 1, 0), Counts.read("keep, full: 10 tests, 1 failed\n")
    end

    test "what failed is found in a long output, with its reasons" do
      output = <<~TEXT
        noise
          1) Failure:
        ATest#test_a [a.rb:3]:
        Expected: 1
          Actual: 2

        more noise
          pin.c:7: a name: x == y not true
          not ok: a name
        pin: 10 tests, 1 failed
        FAILED: build/keep
      TEXT
      assert_equal ["  1) Failure:", "ATest#test_a [a.rb:3]:", "Expected: 1", "  Actual: 2",
                    "  pin.c:7: a name: x == y not true", "  not ok: a name", "FAILED: build/keep"],
                   Counts.failures(output)
      assert_empty Counts.failures("3 tests, 0 failed\n")
    end

    test "several lines are added" do
      assert_equal Counts.new(5, 0, 1), Counts.read("2 passed, 0 failed\nnoise\n3 passed, 0 failed, 1 skipped\n")
    end

    test "an output without counts has none" do
      assert_nil Counts.read("Segmentation fault\n")
      assert_nil Counts.read("")
    end

    test "the sum is printed as bin/test promises" do
      assert_equal "5 passed, 1 failed, 2 skipped", (Counts.new(2, 1, 0) + Counts.new(3, 0, 2)).to_s
    end

    test "reasons of skipped tests are found" do
      output = "  1) Skipped:\nLab::RedisTest#test_a_key [lab/test/redis_test.rb:9]:\nredis-server is not there\n\n"
      assert_equal ["redis-server is not there"], Counts.skip_reasons(output)
    end
  end
end
