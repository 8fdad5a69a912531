# frozen_string_literal: true

require "test_helper"
require "larder/remote/circuit_breaker"
require "larder/sessions"
require "larder/sessions/backends/calls"

module Larder
  module Sessions
    module Backends
      class CallsTest < ActiveSupport::TestCase
        setup do
          @now = 100.0
          @reports = []
          @request = nil
          @given_up = 0
          @breaker = ::Larder::Remote::CircuitBreaker
                     .new(failures: 1, late: 0, hung: Calls::LIMIT, clock: -> { @now }) { true }
        end

        test "the value of the block is the answer" do
          assert_equal 7, calls.call { 7 }
          assert_nil calls.call { nil }
          assert_empty @reports
        end

        test "an error is not an answer, and an outage is reported once" do
          3.times { fails }
          calls.call { 1 }
          fails
          assert_equal [UnavailableError] * 2, @reports.map(&:class)
          assert_match(/\AStore cannot tell which sessions there are, .*: down\. See/, @reports.first.message)
        end

        test "a request that has waited for a second makes no more calls" do
          @request = {}
          3.times { calls.call { @now += 0.4 } }
          error = left_out
          assert_match(/took more than 1\.0 s/, error.message)
          assert_equal 1, @given_up
          @request = {}
          assert_equal(1, calls.call { 1 })
        end

        test "a call that follows at once is made, as the store is not called" do
          @request = {}
          assert_equal(1, calls.call(at_once: true) { 1 })
          calls.call { @now += 1.1 }
          assert_equal(2, calls.call(at_once: true) { 2 })
          assert_equal 1, @given_up
          left_out
        end

        test "so does a request whose call has failed after a second" do
          @request = {}
          assert_raises(UnavailableError) { calls.call { (@now += 1.1) && raise(IOError, "down") } }
          assert_equal 1, @given_up
          left_out
        end

        test "the calls of a request to a store that is far away do not count" do
          @request = {}
          30.times { calls.call { @now += 0.09 } }
          assert_equal(1, calls.call { 1 })
        end

        test "calls without a request have no limit together" do
          3.times { calls.call { @now += 0.9 } }
          assert_equal(1, calls.call { 1 })
        end

        test "while the breaker is open no call is made" do
          fails(with_breaker)
          left_out(with_breaker)
          @now += 3
          assert_equal(1, with_breaker.call { 1 })
        end

        test "a request that has waited for a second opens it for others" do
          @request = {}
          3.times { with_breaker.call { @now += 0.4 } }
          left_out(with_breaker)
          @request = {}
          left_out(with_breaker)
          @now += 3
          assert_equal(1, with_breaker.call { 1 })
        end

        private

        def calls
          @calls ||= Calls.new("Store", report: @reports.method(:<<), request: -> { @request },
                                        give_up: -> { @given_up += 1 }, clock: -> { @now })
        end

        # As Copies has the breaker of its Client.
        def with_breaker
          breaker = @breaker
          @with_breaker ||= Calls.new("Store", request: -> { @request }, give_up: breaker.method(:open),
                                               clock: -> { @now }).tap do |calls|
            calls.define_singleton_method(:call) { |&block| super() { breaker.call(&block) } }
          end
        end

        def fails(calls = self.calls)
          assert_raises(UnavailableError) { calls.call { raise IOError, "down" } }
        end

        def left_out(calls = self.calls)
          assert_raises(UnavailableError) { calls.call { flunk "called" } }
        end
      end
    end
  end
end
