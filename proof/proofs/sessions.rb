# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Lets eight processes sign users in and out in one file at random, kills them, fills the file, and compares each
  # session with a naive model after each operation. Then two machines do the same with `cache:` and a Redis that fails.
  class Sessions < Base
    NAME = "sessions"
    TITLE = "Sessions are as a naive model has them, whatever is killed, however requests overlap and the file fills"
    HELP = "random sign-ins, sign-outs, renewals and changes by eight killed processes, and by two machines with one " \
           "Redis that fails, against a naive model"

    PROGRAM = "proof/sessions/program.rb"
    FULL_OPERATIONS = 300_000
    QUICK_OPERATIONS = 16_000
    SEED = 22
    # Options for two machines, without copies and with them.
    SHARED = [["--shared"], ["--shared", "--copies"]].freeze
    FULL_SHARED = 5_000
    QUICK_SHARED = 200
    # Until each bug of two machines is found.
    BUG_SHARED = 8000

    # @return [String, nil]
    def missing
      return "it forks processes, and kills them" unless Process.respond_to?(:fork)

      "redis-server is not installed" unless House::Environment.program?("redis-server")
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      play(report, quick ? QUICK_OPERATIONS : FULL_OPERATIONS)
      SHARED.each { |options| play(report, quick ? QUICK_SHARED : FULL_SHARED, *options, log: options.join) }
      return if quick

      bugs.each { |name| find(report, name, QUICK_OPERATIONS) }
      bugs("--shared").each { |name| find(report, name, BUG_SHARED, *SHARED.last) }
    end

    private

    # The full run is another each time; its seed is in the report.
    def play(report, operations, *options, **more)
      options += ["--seed", SEED.to_s] if operations == QUICK_OPERATIONS
      argv = ["bundle", "exec", "ruby", "-w", "-Ilib", PROGRAM, "--operations", operations.to_s, *options]
      run(report, argv, env: House::Environment.variables, **more)
    end

    def bugs(*options)
      command = ["bundle", "exec", "ruby", "-Ilib", PROGRAM, *options, "--bugs"]
      IO.popen([House::Environment.variables, *command], chdir: ROOT, &:readlines).map(&:chomp)
    end

    def find(report, name, operations, *options)
      sound = play(Report.new(name, TITLE), operations, *options, "--fault", name, log: name, quietly_fails: true)
      found = !sound && last_output.match?(/^seed \d+: /) && !last_output.include?("ended by itself")
      found ? report.count("bugs seeded, and found", 1) : report.fail("the seeded bug #{name} was not found")
    end
  end
end
