# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Records what real processes see of a few keys, delayed and killed in the midst of their calls, and looks for an
  # order that explains it.
  class Linear < Base
    NAME = "linear"
    TITLE = "What processes see of a key has one order, though they are delayed and killed in the midst of their calls"
    HELP = "histories recorded of real processes, some killed, are linearizable"

    FULL_ROUNDS = 20_000
    QUICK_ROUNDS = 1_000

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      program = File.join(shared_build, "crash/linear_crash")
      rounds = quick ? QUICK_ROUNDS : FULL_ROUNDS
      return unless make(report, program)

      run(report, [program], env: { "LARDER_LINEAR_HISTORIES" => rounds.to_s })
    end
  end
end
