# frozen_string_literal: true

# The command line of bin/soak.

require_relative "../../lib/larder/cli/command"
require_relative "../../rakelib/house/environment"

module Soak
  # Parses the options, compiles, and runs a soak.
  class Command < Larder::CLI::Command
    BANNER = <<~TEXT
      usage: bin/soak [options]

      Lets many processes work on one cache file for as long as told, in the ways applications do: a server with a parent
      that forks workers with threads, a runner that forks a child for each job, a daemon that restarts in place, tasks
      that come and go, and programs in C. They are killed, stopped for a while and told to end at random. Each value
      says whose it is, when it was stored and when it expires, and has a checksum; a ledger in memory of its own says
      what may be seen. One process verifies the file all the time, clears it and prunes it.

      It fails where anybody sees a value that is wrong, deleted, overwritten or expired, where a process crashes or
      hangs, where verify finds a problem, where memory, descriptors, mappings, process slots or room in the file are
      lost, and where the aged file is slower than it was at the start by more than 5 %, beside fresh files measured at
      the same time.

      It needs Linux and a C compiler. What it prints every ten seconds: calls so far and a second, keys found and
      missed, stores refused because a process that was stopped had a lock, processes killed, stopped and forked, how
      often the file was verified, and what was wrong.

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
      options.on("--minutes N", Float, "how long (60; 0.25 is a look)") { |n| @values[:minutes] = at_least(n, 0.05) }
      options.on("--workers N", Integer, "of the forking server, with two threads each (4)") do |n|
        @values[:workers] = at_least(n, 1)
      end
      options.on("--size BYTES", Integer, "of the file (64 MiB); a small one evicts more") do |n|
        @values[:size] = at_least(n, 4 << 20)
      end
      options.on("--seed N", Integer, "of what happens when; the machine still decides much") do |n|
        @values[:seed] = n
      end
      options.on("--directory DIR", "where the files are (a new one in tmp/soak); kept after a failure") do |directory|
        @values[:directory] = directory
      end
      options.on("--no-chaos", "nobody is killed or stopped") { @values[:chaos] = false }
      options.on("--hostile", "the file is also removed and cut short by hand",
                 "(old values are then allowed for three seconds)") { @values[:hostile] = true }
      options.on("--no-judge-times", "no figure of time can fail; hardly measures") { @values[:judge] = false }
    end

    def output(options)
      options.on("--json", "the findings for machines") { @values[:format] = :json }
      options.on("--counts", "the findings for bin/proof") { @values[:format] = :proof }
    end

    def at_least(number, least)
      return number if number >= least

      raise OptionParser::InvalidArgument, "#{number}: at least #{least}, please"
    end
  end
end
