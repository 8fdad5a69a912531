# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Lets eight processes sign users in and out in one file at random, kills them, fills the file, and compares each
  # session with a naive model after each operation.
  class Sessions < Base
    NAME = "sessions"
    TITLE = "Sessions are as a naive model has them, whoever is killed, however requests overlap and the file fills"
    HELP = "random sign-ins, sign-outs, renewals and changes by eight killed processes, against a naive model"

    PROGRAM = "proof/sessions/program.rb"
    FULL_OPERATIONS = 1_000_000
    QUICK_OPERATIONS = 16_000
    SEED = 22

    # @return [String, nil]
    def missing
      "it forks processes, and kills them" unless Process.respond_to?(:fork)
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      play(report, quick ? QUICK_OPERATIONS : FULL_OPERATIONS)
      bugs.each { |name| find(report, name) } unless quick
    end

    private

    # The full run is another each time; its seed is in the report.
    def play(report, operations, *options, **more)
      options += ["--seed", SEED.to_s] if operations == QUICK_OPERATIONS
      argv = ["bundle", "exec", "ruby", "-w", "-Ilib", PROGRAM, "--operations", operations.to_s, *options]
      run(report, argv, env: House::Environment.variables, **more)
    end

    def bugs
      command = ["bundle", "exec", "ruby", "-Ilib", PROGRAM, "--bugs"]
      IO.popen([House::Environment.variables, *command], chdir: ROOT, &:readlines).map(&:chomp)
    end

    def find(report, name)
      sound = play(Report.new(name, TITLE), QUICK_OPERATIONS, "--fault", name, log: name, quietly_fails: true)
      found = !sound && last_output.match?(/^seed \d+: /) && !last_output.include?("ended by itself")
      found ? report.count("bugs seeded, and found", 1) : report.fail("the seeded bug #{name} was not found")
    end
  end
end
