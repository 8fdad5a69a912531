# frozen_string_literal: true

require "test_helper"
require "larder/sessions"

module Larder
  module Sessions
    # When the counts are corrected, and that one process does it.
    class RecountsTest < ActiveSupport::TestCase
      include TemporaryCaches

      test "counts are corrected once an hour, and where a process says that it doubts them" do
        assert_equal [1, 0], counted
        assert_in_delta 3600, cache.ttl("counted"), 60
        cache.touch("counted", ttl: 0.001) # as after an hour
        Thread.pass while cache.exist?("counted")
        assert_equal [1, 0], counted
        recounts.doubt
        assert_equal [1, 0], counted
      end

      test "the file is looked at once a minute" do
        looked { nil }.join
        recounts.doubt
        assert_nil(recounts.look { flunk "it was looked at" })
      end

      test "a doubt that comes while the counts are corrected stays, as one does that was not finished" do
        looked { recounts.doubt }.join
        assert_raises(RuntimeError) { recounts.recount { raise "interrupted" } }
        assert_equal [1, 0], counted
      end

      test "one corrects the counts at a time, and what was killed at it stops nobody" do
        reader, writer = IO.pipe
        first = fork { recounts.recount { writer.write("x") && sleep } }
        reader.read(1)
        recounts.doubt
        assert_nil(looked { flunk "another does it" })
        waiting = Thread.new { recounts.recount { :counted } }
        Thread.pass until waiting.status == "sleep"
        Process.kill(:KILL, first)
        Process.wait(first)
        assert waiting.join(60)
      end

      private

      def recounts
        @now ||= 0
        @recounts ||= Recounts.new(cache, report: ->(error) { raise error }, clock: -> { @now })
      end

      # How often they are counted, in each of two minutes.
      def counted
        Array.new(2) do
          times = 0
          looked { times += 1 }&.join
          times
        end
      end

      # After the minute in which it does not look again.
      def looked(&)
        recounts
        @now += 60
        recounts.look(&)
      end
    end
  end
end
