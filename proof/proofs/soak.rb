# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Lets processes of every kind work on one file for an hour.
  class Soak < Base
    NAME = "soak"
    TITLE = "An hour of processes that come, go, fork, are stopped and killed costs no value, no memory and no time"
    HELP = "bin/soak: mixed work of many processes under chaos, each value held against a ledger (60 minutes)"
    MINUTES = 60
    QUICK_MINUTES = 0.15

    # @return [String, nil]
    def missing
      "it looks at processes through /proc, which is Linux's" unless File.exist?("/proc/self/status")
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      length = quick ? QUICK_MINUTES : minutes || MINUTES
      argv = ["ruby", "bin/soak", "--counts", "--minutes", length.to_s]
      argv += ["--no-judge-times", "--workers", "2", "--size", (16 << 20).to_s, "--seed", "5"] if quick
      run(report, argv, log: "soak")
    end
  end
end
