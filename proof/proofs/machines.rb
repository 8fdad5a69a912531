# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Lets the processes of three machines read and change a remote store while servers, links, processes and
  # configurations fail and change, and holds each value that was read against all writes and deletes.
  class Machines < Base
    NAME = "machines"
    TITLE = "Three machines read nothing that was deleted, replaced or is too old, in time, whatever fails, and recover"
    HELP = "chaos among three machines, two servers, their links and deploys, against a ledger (10 minutes)"

    PROGRAM = "proof/machines/program.rb"
    MINUTES = 10
    QUICK_SECONDS = 42
    # Seconds in which each seeded bug has to be found, where nothing else fails.
    BUG_SECONDS = 22
    SEED = 54

    # @return [String, nil]
    def missing
      "redis-server is not installed" unless House::Environment.program?("redis-server")
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      return play(report, QUICK_SECONDS, "--seed", SEED.to_s) if quick

      play(report, (minutes || MINUTES) * 60)
      bugs.each { |name, rule| find(report, name, rule) }
    end

    private

    # The full run is another each time; its seed is in the report.
    def play(report, seconds, *options, **more)
      argv = ["bundle", "exec", "ruby", "-w", "-Ilib", PROGRAM, "--seconds", seconds.to_s, *options]
      run(report, argv, env: House::Environment.variables, **more)
    end

    def bugs
      command = ["bundle", "exec", "ruby", "-Ilib", PROGRAM, "--bugs"]
      IO.popen([House::Environment.variables, *command], chdir: ROOT, &:readlines).map(&:split)
    end

    def find(report, name, rule)
      options = ["--seed", SEED.to_s, "--no-faults", "--bug", name]
      held = play(Report.new(name, TITLE), BUG_SECONDS, *options, log: name, quietly_fails: true)
      found = !held && last_output.match?(/^#{rule}: /)
      found ? report.count("bugs seeded, and found", 1) : report.fail("the seeded bug #{name} was not found")
    end
  end
end
