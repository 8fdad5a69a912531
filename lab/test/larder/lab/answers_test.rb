# frozen_string_literal: true

require "test_helper"
require "stringio"
require "larder/lab/answers"

module Larder
  module Lab
    class AnswersTest < ActiveSupport::TestCase
      # Does what its job is.
      class Answering
        include Answers

        def run
          answering { @job.call }
        end
      end

      test "what the block answers is told with the end, and whether YJIT was on" do
        done = { "event" => "done", "bytes" => 7, "yjit" => Yjit.on? }
        assert_equal [{ "event" => "started" }, done], events { { bytes: 7 } }
      end

      test "nothing to tell is an end as well" do
        assert_equal({ "event" => "done", "yjit" => Yjit.on? }, events { nil }.last)
      end

      test "what cannot be had is unavailable" do
        last = events { raise Unavailable, "no server" }.last
        assert_equal({ "event" => "unavailable", "reason" => "no server" }, last)
      end

      test "a wrong value makes it invalid, in its own words" do
        last = events { raise Invalid, "a wrong value" }.last
        assert_equal({ "event" => "invalid", "reason" => "a wrong value" }, last)
      end

      test "any other error makes it invalid, with its class and first line, and is printed whole" do
        last = nil
        _, printed = capture_io { last = events { raise ArgumentError, "first\nsecond" }.last }
        assert_equal({ "event" => "invalid", "reason" => "ArgumentError: first" }, last)
        assert_match(/second/, printed)
      end

      test "a missing library makes it invalid" do
        last = nil
        capture_io { last = events { require "no/such/library" }.last }
        assert_match(/\ALoadError: /, last["reason"])
      end

      private

      def events(&job)
        output = StringIO.new
        Answering.new(job, output).run
        output.string.lines.map { |line| JSON.parse(line) }
      end
    end
  end
end
