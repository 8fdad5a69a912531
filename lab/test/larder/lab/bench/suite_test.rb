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

        test "setup keeps what calls and teardown find, and teardown runs before the next block" do
          log = []
          suite = define do
            %i[one two].each do |key|
              block(key, key.to_s) do
                setup { |scene| scene[:key] = log << "#{key} begins" }
                call { |scene, _| scene[:key].frozen? == false }
                teardown { |_| log << "#{key} ends" }
              end
            end
          end
          serve(suite, %w[one two])
          assert_equal ["one begins", "one ends", "two begins"], log
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

        # In this process, as a worker would.
        def serve(suite, blocks)
          with_directory do |dir|
            Suites.stub(:fetch, suite) do
              requests = blocks.map { |key| { do: "prepare", arguments: [key] } }
              input = StringIO.new(requests.map { |request| "#{JSON.generate(request)}\n" }.join)
              job = { "contender" => "memory", "dir" => dir, "size" => 1 << 20, "suite" => "trial", "cold" => [],
                      "proofs" => 1 }
              Service.new(job, input, StringIO.new).serve
            end
          end
        end
      end
    end
  end
end
