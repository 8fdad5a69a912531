# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/serve"
require "larder/lab/suites"

module Larder
  module Lab
    module Bench
      class SuiteTest < ActiveSupport::TestCase
        # A contender whose store is a Hash.
        Standing = Struct.new(:store) do
          def self.keeps_values? = true
        end

        test "a block without code to measure, and one that does not exist, are refused by name" do
          error = assert_raises(ArgumentError) { define { block(:empty, "nothing") { setup { |_| nil } } } }
          assert_equal "the block empty has no call", error.message
          error = assert_raises(KeyError) { define { block(:hit, "hit") { call { true } } }.fetch("miss") }
          assert_equal "the suite trial has no block miss", error.message
        end

        test "all calls of a turn have numbers of their own, also in the next turn and in each thread" do
          seen = Thread::Queue.new
          suite = define do
            block(:several, "calls", threads: 2) { call { |_, number, thread| seen << [number, thread] && true } }
          end
          turn = Turn.new(suite.fetch("several"), Scene.new(Standing.new({})))
          assert_equal [6, 4], [turn.take(3).calls, turn.take(2).calls]
          assert_equal (0...5).to_a.product([0, 1]), Array.new(seen.size) { seen.pop }.sort
        end

        test "suites have a title, a question, and answer by blocks that they have" do
          Suites.names.each do |name|
            suite = Suites.fetch(name)
            assert_predicate suite.title, :present?
            assert suite.question.end_with?("?")
            suite.answers.each { |key| suite.fetch(key) }
            suite.registry.check(suite.usual.call) if suite.usual
          end
        end

        private

        def define(&declaration) = Suite.define("trial", &declaration)
      end
    end
  end
end
