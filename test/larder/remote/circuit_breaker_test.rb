# frozen_string_literal: true

require "test_helper"
require "larder/remote/circuit_breaker"
require "support/interruptions"

module Larder
  module Remote
    class CircuitBreakerTest < ActiveSupport::TestCase
      include Processes
      include Interruptions

      setup do
        @now = 1000.0
        @breaker = CircuitBreaker.new(hung: 5, clock: -> { @now }) { |error| error.nil? || error.is_a?(IOError) }
      end

      test "three calls that fail late open it, and then no call is made for two seconds" do
        3.times { fail_after(1) }
        assert_raises(CircuitBreaker::OpenError) { @breaker.call { flunk } }
        @now += 1.9
        assert_raises(CircuitBreaker::OpenError) { @breaker.call { flunk } }
        @now += 0.2
        assert_equal "answer", @breaker.call { "answer" }
        assert_equal "answer", @breaker.call { "answer" }
      end

      test "it says whether it is open" do
        assert_not_predicate @breaker, :open?
        3.times { fail_after(1) }
        assert_predicate @breaker, :open?
        assert_not in_child { @breaker.open? }
        @now += 2.1
        assert_not_predicate @breaker, :open?
      end

      test "failures at once, other errors and failures long ago do not count" do
        10.times { fail_after(0.05) }
        10.times { assert_raises(ArgumentError) { @breaker.call { (@now += 1) && raise(ArgumentError) } } }
        5.times { fail_after(6) }
        assert_equal "answer", @breaker.call { "answer" }
      end

      test "the handler of a signal, which cannot lock, makes its call" do
        answers = []
        before = trap("USR2") { answers << @breaker.call { "answer" } }
        Process.kill("USR2", Process.pid)
        assert(eventually { answers == ["answer"] })
        assert_equal "answer", @breaker.call { "answer" }
      ensure
        trap("USR2", before || "DEFAULT")
      end

      test "three calls that are interrupted late open it, and not those that are left at once" do
        5.times { catch(:out) { @breaker.call { throw :out } } }
        3.times { catch(:out) { @breaker.call { (@now += 1) && throw(:out) } } }
        assert_raises(CircuitBreaker::OpenError) { @breaker.call { flunk } }
      end

      test "a trial that fails late opens it again, one that fails at once closes it" do
        3.times { fail_after(1) }
        @now += 3
        fail_after(1)
        assert_raises(CircuitBreaker::OpenError) { @breaker.call { flunk } }
        @now += 3
        fail_after(0)
        assert_equal "answer", @breaker.call { "answer" }
      end

      test "while a trial is made no other call is, and after an interrupted one another is the trial" do
        3.times { fail_after(1) }
        @now += 3
        assert_equal :thrown, catch(:out) { @breaker.call { throw :out, trial_of_another_thread } }
        assert_equal "answer", @breaker.call { "answer" }
      end

      test "a call that has not ended for five seconds opens it once" do
        gate, inside = Queue.new, Queue.new
        hanging = Thread.new { @breaker.call { inside.push(true) && gate.pop } }
        inside.pop
        assert_equal "answer", @breaker.call { "answer" }
        @now += 6
        assert_raises(CircuitBreaker::OpenError) { @breaker.call { flunk } }
        @now += 3
        assert_equal "answer", @breaker.call { "answer" }
        assert_equal "answer", @breaker.call { "answer" }
        gate.push("late")
        assert_equal "late", hanging.value
        assert_equal "answer", @breaker.call { "answer" }
      end

      test "after a trial that has not ended for five seconds another call is the trial" do
        3.times { fail_after(1) }
        @now += 3
        gate, inside = Queue.new, Queue.new
        hanging = Thread.new { @breaker.call { inside.push(true) && gate.pop } }
        inside.pop
        @now += 4
        assert_raises(CircuitBreaker::OpenError) { @breaker.call { flunk } }
        @now += 2
        assert_raises(CircuitBreaker::OpenError, "it is open for a pause again") { @breaker.call { flunk } }
        @now += 3
        2.times { assert_equal "answer", @breaker.call { "answer" } }
        gate.push("late")
        assert_equal "late", hanging.value
        assert_equal "answer", @breaker.call { "answer" }
      end

      test "an exception of another thread leaves no trial behind, wherever it comes" do
        place = 0
        loop do
          @breaker.open
          @now += 3
          found = interrupted_at(place += 1, "/circuit_breaker.rb") { @breaker.call { "answer" } }
          assert_equal "answer", @breaker.call { "answer" }, "place #{place}"
          break unless found
        end
        assert_operator place, :>, 5
      end

      test "it can be opened for a pause" do
        @breaker.open
        assert_raises(CircuitBreaker::OpenError) { @breaker.call { flunk } }
        @now += 3
        assert_equal "answer", @breaker.call { "answer" }
      end

      test "a call within a call is part of it" do
        3.times { assert_raises(IOError) { @breaker.call { @breaker.call { (@now += 1) && raise(IOError) } } } }
        assert_raises(CircuitBreaker::OpenError) { @breaker.call { flunk } }
      end

      test "a forked child begins with it closed" do
        3.times { fail_after(1) }
        assert_equal("answer", in_child { @breaker.call { "answer" } })
      end

      private

      def fail_after(seconds)
        assert_raises(IOError) { @breaker.call { (@now += seconds) && raise(IOError) } }
      end

      def trial_of_another_thread
        thread = Thread.new { @breaker.call { flunk } }
        thread.report_on_exception = false
        assert_raises(CircuitBreaker::OpenError) { thread.join }
        :thrown
      end
    end
  end
end
