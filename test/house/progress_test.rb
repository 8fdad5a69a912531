# frozen_string_literal: true

require "test_helper"
require_relative "../../rakelib/house/progress"

module House
  # When a program counts as hung: with a clock and processor times that the tests set.
  class ProgressTest < ActiveSupport::TestCase
    Tree = Struct.new(:cpu_seconds)

    setup do
      @now = 1000.0
      @tree = Tree.new(0.0)
      @progress = Progress.new(@tree, quiet: 300, cpu_limit: 5000, clock: -> { @now })
    end

    test "a program that neither prints nor computes hangs" do
      assert_nil pass(295)
      assert_equal "hangs: no output and no work for 300 s", pass(5)
    end

    test "one that prints now and then goes on" do
      100.times { |lines| assert_nil pass(200, output: lines + 1) }
    end

    test "one that computes in silence goes on, also with a small share of a processor" do
      100.times { assert_nil pass(200, cpu: 0.05) }
    end

    test "one that only polls hangs" do
      assert_match(/hangs/, pass(600, cpu: 0.01))
    end

    test "one that computed and then hangs is found" do
      assert_nil pass(1000, cpu: 1.0)
      assert_match(/hangs/, pass(600))
    end

    test "one that computes for ever has a limit" do
      assert_nil pass(4900, cpu: 1.0)
      assert_equal "computes without end: 5005 s of processor time", pass(200, cpu: 1.0)
    end

    test "a process that ends elsewhere takes its time out of the sum, which is not a hang" do
      pass(200, cpu: 1.0)
      @tree.cpu_seconds = 1.0
      assert_nil pass(250)
    end

    test "the time of a suspended machine does not count" do
      assert_nil pass(5)
      @now += 100_000
      assert_nil @progress.problem(0)
    end

    test "where processor times are unknown, output counts, and may come later" do
      @progress = Progress.new(@tree = Tree.new(nil), quiet: 300, clock: -> { @now })
      assert_nil pass(1100)
      assert_nil pass(1100, output: 1)
      assert_match(/hangs/, pass(200, output: 1))
    end

    private

    # Lets time go by in which each second takes `cpu` of a processor.
    #
    # @return [String, nil] the first problem
    def pass(seconds, cpu: 0, output: 0)
      (seconds / 5).times do
        @now += 5
        @tree.cpu_seconds += 5 * cpu if @tree.cpu_seconds
        problem = @progress.problem(output)
        return problem if problem
      end
      nil
    end
  end
end
