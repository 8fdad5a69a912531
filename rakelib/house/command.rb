# frozen_string_literal: true

require_relative "../../lib/larder/cli/command"
require_relative "busy_loops"
require_relative "matrix_run"
require_relative "repeat"
require_relative "retry_failed"
require_relative "runner"
require_relative "suites"
require_relative "summary"

module House
  # bin/test: reads the command line, sets up, runs the suites, prints the summary.
  class Command < Larder::CLI::Command
    BANNER = <<~TEXT.freeze
      usage: bin/test [options] [FILE...] [-- MINITEST-OPTIONS]

      Sets this checkout up (bin/setup), compiles, and runs every suite. The last line it prints is the sum:
      `N passed, N failed, N skipped`. The exit status is 1 if a test failed or none ran.

        bin/test                                   everything that this machine can run
        bin/test --fast                            the loop of editing: no sanitizers, no packaging, short soaks
        bin/test test/larder/bytes/cache_test.rb         one file
        bin/test test/larder/bytes/cache_test.rb -- -n /increment/ --seed 1
        bin/test --only style,docs                 some suites
        bin/test --all                             everything and the second stack, as CI does
        bin/test --stack trixie                    Ruby tests on Debian trixie (Ruby 3.3, Rails 8.1), made by debootstrap
        bin/test --stack yjit-3.4                  the same with a Ruby that has YJIT, built from Debian's source
        bin/test --rails 7.1                       on another Rails: 7.1 and 7.2 on Ruby 3.1, 8.0 and 8.1 on newer ones
        bin/test --busy 3                          together with three processes that only compute
        bin/test --repeat 50 --waiting --busy 3    each file that waits for processes or threads, fifty times
        bin/test --matrix                          every Rails, compiler, level, sanitizer and processor: an hour or two
        bin/test --matrix rails-7.1,clang          some of its cells, by name or by what their names begin with

      Suites:
      #{Suites::SUITES.map { |name, text| format("  %-8s %s", name, text) }.join("\n")}

      Each job's output is kept in a file. Servers are started by the tests that need them and stopped by them.

      Options:
    TEXT

    def initialize(...)
      super
      @suites = Suites::DEFAULT
      @stack = nil
      @lanes = Environment.processors + 2 # for many jobs wait part of their time
      @setup = true
      @setup_options = []
      @fast = @slow = false
      @verbose = false
      @logs = File.join(ROOT, "tmp/test")
      @cells = nil
      @json = @retry_failed = @waiting = false
      @repeat = 1
      @busy = 0
    end

    # @param arguments [Array<String>] those after "--" are minitest's
    # @return [Integer] exit code
    def run(arguments)
      at = arguments.index("--") || arguments.size
      @minitest = arguments.drop(at + 1)
      super(arguments.take(at))
    end

    private

    def operands(rest)
      @files = rest
      @files |= Repeat.waiting_files if @waiting
    end

    # @return [Integer] exit code
    def act
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      $stdout.sync = true
      return 2 unless set_up
      return run_matrix if @cells

      jobs = chosen_jobs
      gemfile = Environment.relative(Environment.gemfile)
      puts "bin/test: Ruby #{RUBY_VERSION}, #{gemfile}, #{jobs.size} jobs, #{@lanes} at a time"
      results = BusyLoops.during(@busy) { Runner.new(jobs, lanes: @lanes, log_dir: @logs, verbose: @verbose).run }
      results = RetryFailed.new(log_dir: @logs).run(results) if @retry_failed
      print_repeated(results) if @repeat > 1
      Summary.new.print(results, Process.clock_gettime(Process::CLOCK_MONOTONIC) - started)
    end

    def print_repeated(results)
      failures = Repeat.failures(results)
      puts "", failures.empty? ? "Each job passed #{@repeat} times." : ["Failed now and then:", *failures]
    end

    def run_matrix
      MatrixRun.new(Matrix.new.choose(@cells), lanes: @lanes, log_dir: @logs, json: @json).run ? 0 : 1
    end

    def chosen_jobs
      Repeat.jobs(jobs_once, @repeat)
    end

    def jobs_once
      return Suites.stack_jobs_on(@stack, @files, @minitest, retry_failed: @retry_failed) if @stack
      return Suites.jobs(@suites, fast: @fast, slow: @slow, retry_failed: @retry_failed) if @files.empty?

      Suites.jobs_for_files(@files, @minitest, slow: @slow || !@waiting)
    end

    def parser
      @parser ||= explained(BANNER) do |options|
        options.on("--fast", "leave out what is slow") { @suites, @fast = Suites::FAST, true }
        options.on("--slow", "with the slow tests, which are skipped otherwise") { @slow = true }
        options.on("--all", "with the second stack") { @suites = Suites::ALL }
        options.on("--only LIST", Array, "these suites") { |names| @suites = known(names) }
        options.on("--stack NAME", Stack::NAMES, "only the Ruby tests, on another system") { |name| @stack = name }
        options.on("--rails VERSION", Environment::GEMFILES.keys, "the tests, on this Rails") do |version|
          ENV["BUNDLE_GEMFILE"] = Environment.gemfile_of(version)
        end
        options.on("--matrix [CELLS]", Array, "all combinations, or these") { |names| @cells = names || [] }
        options.on("--json", "the matrix's table for machines") { @json = true }
        options.on("--jobs N", Integer, "how many at a time (#{@lanes})") { |count| @lanes = [count, 1].max }
        options.on("--repeat N", Integer, "run each job N times, and count its failures") do |count|
          @repeat = [count, 1].max
        end
        options.on("--waiting", "with the Ruby test files that wait for other processes or threads") { @waiting = true }
        options.on("--busy N", Integer, "together with N processes that only compute") do |count|
          @busy = [count, 0].max
        end
        options.on("--retry-failed", "run what failed once more, alone") { @retry_failed = true }
        options.on("--logs DIR", "where outputs are kept (tmp/test)") { |path| @logs = File.expand_path(path) }
        options.on("--verbose", "print the output of every job") { @verbose = true }
        options.on("--no-setup", "do not run bin/setup first") { @setup = false }
        options.on("--no-system", "install no Debian packages") { @setup_options << "--no-system" }
      end
    end

    def known(names)
      unknown = names - Suites::SUITES.keys
      return names if unknown.empty?

      raise Larder::CLI::UsageError,
            "unknown suite #{unknown.join(", ")}; known: #{Suites::SUITES.keys.join(", ")}"
    end

    def set_up
      return true if @stack || !@setup

      options = @setup_options + (lab? ? [*("--no-contenders" unless @slow || @cells)] : ["--no-lab"])
      system(File.join(ROOT, "bin/setup"), *options, in: File::NULL)
    end

    # Are the gems of the lab needed?
    def lab?
      return @files.any? { |file| File.expand_path(file).start_with?("#{ROOT}/lab/") } unless @files.empty?

      @suites.include?("lab")
    end
  end
end
