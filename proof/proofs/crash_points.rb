# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Kills a child at each store to shared memory that an operation makes.
  class CrashPoints < Base
    NAME = "crash"
    TITLE = "A process killed at any store to shared memory costs nothing but what it was storing"
    HELP = "a child is killed at each store to shared memory of each operation"

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      make(report, "crash-test", env: quick ? {} : { "LARDER_CRASH_STRIDE" => "1" }, limit: quick ? 300 : 7200)
    end
  end
end
