# frozen_string_literal: true

# The command line of bin/soak.

require_relative "../../lib/larder/cli/command"
require_relative "../../rakelib/house/environment"

module Soak
  # Parses the options, compiles, and runs a soak.
  class Command < Larder::CLI::Command
    BANNER = <<~TEXT
      usage: bin/soak [options]

      Runs many processes on one cache file, as applications do: a server whose parent forks workers with threads, a
      runner that forks a child for each job, a daemon that restarts in place, short tasks, and programs in C. They are
      killed, stopped for a while and terminated at random. Each value contains its owner, the time of its store, its
      expiry and a checksum; a ledger in separate memory records which values may be read. One process continually
      verifies, clears and prunes the file.

      It fails if a process reads a value that is wrong, deleted, overwritten or expired, if a process crashes or hangs,
      if verify finds a problem, if memory, descriptors, mappings, process slots or space in the file leak, or if the aged
      file is more than 5 % slower than at the start, compared with new files that are measured at the same time.

      It needs Linux and a C compiler. Every ten seconds it prints: calls in total and per second, hits and misses, stores
      refused because a stopped process held a lock, processes killed, stopped and forked, verifications, and errors.

      Options:
    TEXT

    def initialize(...)
      super
      @values = { minutes: 60.0, workers: 4, size: 64 << 20, seed: Random.new_seed & 0xffffffff, directory: nil,
                  chaos: true, hostile: false, judge: true, format: :text }
    end

    # @param arguments [Array<String>]
    # @return [Integer] exit code
    def run(arguments)
      @arguments = arguments
      super
    end

    private

    def act
      raise Larder::CLI::Failure, "needs Linux: it looks at processes through /proc" unless File.exist?("/proc/self")

      restart unless ENV["LARDER_SOAK"]
      require_relative "run"
      findings = Run.new(@values).soak
      puts({ text: findings.text, json: findings.to_json, proof: findings.proof }.fetch(@values[:format]))
      findings.passed? ? 0 : 1
    end

    # Bundler reads the Gemfile's variables when Ruby starts, so this program starts itself once more under them.
    def restart
      variables = House::Environment.variables.merge("LARDER_SOAK" => "1")
      # Ruby and C must be of one engine: two formats would replace each other's file.
      compiled = system(variables, "bundle", "exec", "rake", "--silent", "compile", chdir: House::ROOT, out: :err)
      raise Larder::CLI::Failure, "the extension could not be compiled; see above" unless compiled

      exec(variables, RbConfig.ruby, "-rbundler/setup", "-I#{House::ROOT}/lib", $PROGRAM_NAME, *@arguments)
    end

    def parser
      @parser ||= explained(BANNER, width: 20) do |options|
        work(options)
        output(options)
      end
    end

    def work(options)
      options.on("--minutes N", Float, "duration (60)") { |n| @values[:minutes] = at_least(n, 0.05) }
      options.on("--workers N", Integer, "workers of the forking server, with two threads each (4)") do |n|
        @values[:workers] = at_least(n, 1)
      end
      options.on("--size BYTES", Integer, "size of the file (64 MiB); a small one evicts more") do |n|
        @values[:size] = at_least(n, 4 << 20)
      end
      options.on("--seed N", Integer, "seed of random decisions; timing still varies") do |n|
        @values[:seed] = n
      end
      options.on("--directory DIR",
"where the files are (a new one in tmp/soak); not deleted after a failure") do |directory|
        @values[:directory] = directory
      end
      options.on("--no-chaos", "kill and stop no process") { @values[:chaos] = false }
      options.on("--hostile", "also remove and truncate the file",
                 "(old values are then allowed for three seconds)") { @values[:hostile] = true }
      options.on("--no-judge-times", "do not fail because of times; hardly measures them") { @values[:judge] = false }
    end

    def output(options)
      options.on("--json", "print the findings as JSON") { @values[:format] = :json }
      options.on("--counts", "print the findings for bin/proof") { @values[:format] = :proof }
    end

    def at_least(number, least)
      return number if number >= least

      raise OptionParser::InvalidArgument, "#{number}: must be at least #{least}"
    end
  end
end
