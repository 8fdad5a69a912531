# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Attacks from outside: another user in the cache's directory, links, chosen keys, forged bytes, curious readers of
  # logs. SECURITY.md says what is claimed.
  class Security < Base
    NAME = "security"
    TITLE = "What SECURITY.md claims holds against one who attacks it"
    HELP = "another user in the directory, links, chosen keys, Marshal's reach, leaks"

    # How long another user changes the directory: once in a sticky one, once in one that is his. A child has a minute.
    SECONDS = { true => "3", false => "45" }.freeze

    # C tests of the engine that belong to it.
    ENGINE = ["flooding_test", "files_test"].freeze

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      ENGINE.each do |name|
        program = File.join(shared_build, "test", name)
        next unless make(report, program)

        run(report, [program], log: name) && cases(report, /^\S+: (\d+) tests, 0 failed/)
      end
      ruby_tests.each do |file|
        argv = ["bundle", "exec", "ruby", "-w", "-Ilib", "-Itest", file, "--seed", "1"]
        env = House::Environment.variables.merge("LARDER_SECURITY_SECONDS" => SECONDS.fetch(quick))
        run(report, argv, env: env, log: file) && cases(report, /^(\d+) runs, .* 0 skips/)
      end
      report.note("without root nobody can be two users: that attack was not made") unless Process.uid.zero?
    end

    private

    def ruby_tests
      Dir.glob("test/security/**/*_test.rb", base: ROOT)
    end

    # Counts the cases that passed.
    def cases(report, line)
      report.count("cases, each a sentence in engine/test or test/security", Integer(last_output[line, 1] || 0))
    end
  end
end
