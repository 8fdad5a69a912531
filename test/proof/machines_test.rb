# frozen_string_literal: true

require "test_helper"
require "open3"
require_relative "../../rakelib/house/environment"
require_relative "../../proof/proofs/machines"
require_relative "../../proof/machines/bugs"

module Proof
  # The proof of machines holds where nothing fails, and finds what is broken on purpose there.
  class MachinesTest < ActiveSupport::TestCase
    SECONDS = 22

    test "machines whose servers and links work hold all promises" do
      output, status = play
      assert_predicate status, :success?, output
      assert_operator output[/^@ (\d+) operations by/, 1].to_i, :>, 100
      assert_operator output[/^@ (\d+) values read/, 1].to_i, :>, 20
    end

    MachineProof::Bugs.names.each_with_index do |name, index|
      define = index.zero? ? :test : :slow_test
      public_send(define, "the bug #{name} is found") do
        output, status = play("--bug", name)
        assert_equal 1, status.exitstatus, output
        assert_match(/^#{MachineProof::Bugs.rule(name)}: /, output)
      end
    end

    private

    def play(*options)
      skip Machines.new.missing if Machines.new.missing
      argv = ["bundle", "exec", "ruby", "-w", "-Ilib", Machines::PROGRAM, "--seconds", SECONDS.to_s, "--no-faults",
              "--seed", Machines::SEED.to_s, *options]
      Open3.capture2e(House::Environment.variables, *argv, chdir: House::ROOT)
    end
  end
end
