# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Lets each call of the system and the library fail that the engine makes, every way it can.
  class Faults < Base
    NAME = "faults"
    TITLE = "A failing call of the system or the library is reported, leaks nothing, and costs no value"
    HELP = "each call that the engine makes fails, once, twice or for good"

    # @return [String, nil]
    def missing
      "it needs Linux: the linker's --wrap and /proc" unless RUBY_PLATFORM.include?("linux")
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      make(report, "calls-test", variables: { "OPTIMIZE" => "-O1" },
                                 env: quick ? {} : { "LARDER_CALLS" => "all" })
      report.note(quick ? "Each place in the code that makes calls is let fail." : "Each call fails with each errno.")
    end
  end
end
