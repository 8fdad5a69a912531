# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/soak/member"

module Soak
  class MemberTest < ActiveSupport::TestCase
    # Works until the block says so; `rests` keeps its thread in the work for longer, as while all rest.
    Stub = Struct.new(:rests, :left) do
      def inherit; end

      def work
        Thread.pass until yield
        rests.pop
      end

      def leave
        self.left = true
      end
    end

    class TwoThreads < Member
      def initialize(workers)
        @workers = workers
      end

      def worker(*)
        @workers.shift
      end

      def play
        in_threads(2, nil, nil) { nil }
      end
    end

    test "a thread that ends gives its slot back, though another still rests" do
      ended = Stub.new(Queue.new << true)
      resting = Stub.new(Queue.new)
      member = Thread.new { TwoThreads.new([ended, resting]).play }
      ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
      Thread.pass until ended.left || Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
      assert ended.left
      refute resting.left
    ensure
      resting.rests << true
      member.join
    end
  end
end
