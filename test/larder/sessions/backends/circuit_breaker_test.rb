# frozen_string_literal: true

require "test_helper"
require "larder/sessions"
require "larder/sessions/backends/circuit_breaker"

module Larder
  module Sessions
    module Backends
      class CircuitBreakerTest < ActiveSupport::TestCase
        setup do
          @now = 100.0
          @reports = []
          @request = nil
          @breaker = CircuitBreaker.new("Store", report: @reports.method(:<<), request: -> { @request },
                                                 clock: -> { @now })
        end

        test "what the store answers is the answer" do
          assert_equal 7, @breaker.call { 7 }
          assert_nil @breaker.call { nil }
          assert_empty @reports
        end

        test "after a failure no call is made for five seconds, and one report is" do
          fails
          @now += 4.9
          3.times { left_out }
          assert_equal ["down"], @reports.map(&:message)
        end

        test "then one call is let through, and decides" do
          fails
          @now += 5
          @breaker.call { left_out }
          assert_equal(1, @breaker.call { 1 })
          fails
          assert_equal %w[down down], @reports.map(&:message)
        end

        test "one outage is one report however often it is tried" do
          4.times do
            fails
            @now += 5
          end
          assert_equal 1, @reports.size
        end

        test "a slow answer counts, and no further call is made" do
          assert_equal(1, @breaker.call { (@now += 1.5) && 1 })
          left_out
          assert_equal [SlowStoreError], @reports.map(&:class)
          assert_match(/\AStore, which has copies of the sessions, took more than 1\.5 s/, @reports.first.message)
        end

        test "so do the answers of one request that are slow together" do
          @request = {}
          3.times { @breaker.call { @now += 0.3 } }
          @breaker.call { @now += 0.3 }
          left_out
          @request = {}
          @now += 5
          3.times { @breaker.call { @now += 0.3 } }
          assert_equal 1, @reports.size
        end

        test "while a call hangs for ever the others are not made" do
          calling = Queue.new
          release = Queue.new
          thread = Thread.new { @breaker.call { calling << true && release.pop } }
          calling.pop
          assert_equal(1, @breaker.call { 1 })
          @now += 1.5
          2.times { left_out }
          assert_equal [SlowStoreError], @reports.map(&:class)
          release << :late
          assert_equal :late, thread.value
          left_out
          @now += 5
          assert_equal(1, @breaker.call { 1 })
        end

        test "a trial that hangs is the only one" do
          fails
          @now += 5
          calling = Queue.new
          release = Queue.new
          thread = Thread.new { @breaker.call { calling << true && release.pop } }
          calling.pop
          @now += 60
          left_out
          release << 1
          thread.join
          left_out
        end

        test "what interrupts a call goes on its way, and the next is made" do
          assert_equal :out, catch(:gone) { @breaker.call { throw :gone, :out } }
          assert_equal(1, @breaker.call { 1 })
        end

        test "a fork does not wait for its parent's calls" do
          calling = Queue.new
          release = Queue.new
          thread = Thread.new { @breaker.call { calling << true && release.pop } }
          calling.pop
          @now += 2
          child = fork { exit!(@breaker.call { 1 } == 1) }
          assert_predicate Process.wait2(child).last, :success?
          release << 1
          thread.join
        end

        private

        def fails
          assert_raises(CircuitBreaker::OpenError) { @breaker.call { raise IOError, "down" } }
        end

        def left_out
          assert_raises(CircuitBreaker::OpenError) { @breaker.call { flunk "called" } }
        end
      end
    end
  end
end
