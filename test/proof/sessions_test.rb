# frozen_string_literal: true

require "test_helper"
require "open3"
require_relative "../../rakelib/house/environment"
require_relative "../../proof/proofs/sessions"
require_relative "../../proof/sessions/fault_injection"
require_relative "../../proof/sessions/faults_of_machines"

module Proof
  # The proof of sessions holds for sound ones, and finds what is broken on purpose in the part of it that CI runs.
  class SessionsTest < ActiveSupport::TestCase
    SHORT = 1500
    # Operations on sessions that two machines share.
    SHARED = 120

    test "sound sessions are as the model has them" do
      output, status = play(SHORT, 5)
      assert_predicate status, :success?, output
      assert_operator output[/^@ (\d+) operations on sessions/, 1].to_i, :>=, SHORT
      assert_match(/^@ [1-9]\d* times that two to four requests overlapped$/, output)
    end

    test "sessions that two machines share are as the model has them, while their Redis fails" do
      output, status = play_shared(SHARED, 5)
      assert_predicate status, :success?, output
      assert_match(/^@ [1-9]\d* operations while the store failed$/, output)
    end

    SessionProof::FaultsOfMachines.names.each do |name|
      slow_test "the bug #{name} of two machines is found" do
        output, status = play_shared(Sessions::BUG_SHARED, 7, "--fault", name)
        assert_equal 1, status.exitstatus, output
        assert_match(/^seed 7: .*(is |are |has |lost)/m, output)
      end
    end

    SessionProof::FaultInjection.names.each_with_index do |name, index|
      define = index.zero? ? :test : :slow_test
      public_send(define, "the bug #{name} is found") do
        output, status = play(Sessions::QUICK_OPERATIONS, Sessions::SEED, "--fault", name)
        assert_equal 1, status.exitstatus, output
        assert_match(/^seed #{Sessions::SEED}: .*(is |are |has |lost)/m, output)
        assert_no_match(/ended by itself/, output)
      end
    end

    private

    def play_shared(operations, seed, *options)
      skip "redis-server is not installed" unless House::Environment.program?("redis-server")
      play(operations, seed, *Sessions::SHARED.last, *options)
    end

    def play(operations, seed, *options)
      skip "needs fork" unless Process.respond_to?(:fork)
      argv = ["bundle", "exec", "ruby", "-w", "-Ilib", Sessions::PROGRAM, "--operations", operations.to_s,
              "--seed", seed.to_s, *options]
      Open3.capture2e(House::Environment.variables, *argv, chdir: House::ROOT)
    end
  end
end
