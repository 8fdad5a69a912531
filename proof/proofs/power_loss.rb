# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Opens what a disk may hold after the power failed: any subset of pages, sectors, lengths and names.
  class PowerLoss < Base
    NAME = "power"
    TITLE = "After a power loss the cache is empty or right, and whole where it was closed cleanly"
    HELP = "disks that hold any subset of what was written are opened after the next boot"

    # Images a boot of each session, sessions made up by chance.
    QUICK = [16, 6].freeze
    FULL = [400, 100].freeze

    # @return [String, nil]
    def missing
      "the system calls are recorded on Linux only" unless RUBY_PLATFORM.include?("linux")
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      program = File.join(shared_build, "proof/power")
      return unless make(report, program)

      run(report, [program, *(quick ? QUICK : FULL).map(&:to_s)])
    end
  end
end
