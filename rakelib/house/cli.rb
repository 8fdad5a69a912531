# frozen_string_literal: true

require "optparse"
require_relative "matrix_run"
require_relative "retry_failed"
require_relative "suites"
require_relative "runner"

module House
  # bin/test: reads the command line, sets up, runs the suites, prints the summary.
  class CLI
    BANNER = <<~TEXT.freeze
      usage: bin/test [options] [FILE...] [-- MINITEST-OPTIONS]

      Sets this checkout up (bin/setup), compiles, and runs every suite. The last line it prints is the sum:
      `N passed, N failed, N skipped`. The exit status is 1 if a test failed or none ran.

        bin/test                                   everything that this machine can run
        bin/test --fast                            the loop of editing: no sanitizers, no packaging, short soaks
        bin/test test/larder/cache_test.rb         one file
        bin/test test/larder/cache_test.rb -- -n /increment/ --seed 1
        bin/test --only style,docs                 some suites
        bin/test --all                             everything and the second stack, as CI does
        bin/test --stack trixie                    Ruby tests on Debian trixie (Ruby 3.3, Rails 8.1), made by debootstrap
        bin/test --rails 7.1                       on another Rails: 7.1 and 7.2 on Ruby 3.1, 8.0 and 8.1 on newer ones
        bin/test --matrix                          every Rails, compiler, level, sanitizer and processor: an hour or two
        bin/test --matrix rails-7.1,clang          some of its cells, by name or by what their names begin with

      Suites:
      #{Suites::SUITES.map { |name, text| format("  %-8s %s", name, text) }.join("\n")}

      Each job's output is kept in a file. Servers are started by the tests that need them and stopped by them.

      Options:
    TEXT

    # Lines of a failed job in the summary.
    FAILURE_LINES = 40
    # Jobs in the summary's list of those that took most processor time.
    LONGEST_JOBS = 10

    # @param argv [Array<String>]
    def initialize(argv)
      @suites = Suites::DEFAULT
      @lanes = Environment.processors
      @setup = true
      @setup_options = []
      @fast = @slow = false
      @verbose = false
      @logs = File.join(ROOT, "tmp/test")
      @cells = nil
      @json = @retry_failed = false
      argv, @minitest = split(argv)
      @files = parser.parse(argv)
    end

    # @return [Integer] exit status
    def run
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      $stdout.sync = true
      return 2 unless set_up
      return run_matrix if @cells

      jobs = chosen_jobs
      puts "bin/test: Ruby #{RUBY_VERSION}, #{relative(Environment.gemfile)}, #{jobs.size} jobs, #{@lanes} at a time"
      results = Runner.new(jobs, lanes: @lanes, log_dir: @logs, verbose: @verbose).run
      results = RetryFailed.new(log_dir: @logs).run(results) if @retry_failed
      summarize(results, Process.clock_gettime(Process::CLOCK_MONOTONIC) - started)
    end

    private

    def run_matrix
      MatrixRun.new(Matrix.new.choose(@cells), lanes: @lanes, log_dir: @logs, json: @json).run ? 0 : 1
    end

    def chosen_jobs
      return Suites.jobs(@suites, fast: @fast, slow: @slow) if @files.empty?

      @suites == ["trixie"] ? Suites.trixie_jobs(@files, @minitest) : Suites.jobs_for_files(@files, @minitest)
    end

    def split(argv)
      at = argv.index("--")
      at ? [argv[0...at], argv[(at + 1)..]] : [argv, []]
    end

    def parser
      OptionParser.new(BANNER, 18) do |options|
        options.on("--fast", "leave out what is slow") { @suites, @fast = Suites::FAST, true }
        options.on("--slow", "with the slow tests, which are skipped otherwise") { @slow = true }
        options.on("--all", "with the second stack") { @suites = Suites::ALL }
        options.on("--only LIST", Array, "these suites") { |names| @suites = known(names) }
        options.on("--stack NAME", ["trixie"], "only the Ruby tests, on another system") { |name| @suites = [name] }
        options.on("--rails VERSION", Environment::GEMFILES.keys, "the tests, on this Rails") do |version|
          ENV["BUNDLE_GEMFILE"] = Environment.gemfile_of(version)
        end
        options.on("--matrix [CELLS]", Array, "all combinations, or these") { |names| @cells = names || [] }
        options.on("--json", "the matrix's table for machines") { @json = true }
        options.on("--jobs N", Integer, "how many at a time (#{@lanes})") { |count| @lanes = [count, 1].max }
        options.on("--retry-failed", "run what failed once more, alone") { @retry_failed = true }
        options.on("--logs DIR", "where outputs are kept (tmp/test)") { |path| @logs = File.expand_path(path) }
        options.on("--verbose", "print the output of every job") { @verbose = true }
        options.on("--no-setup", "do not run bin/setup first") { @setup = false }
        options.on("--no-system", "install no Debian packages") { @setup_options << "--no-system" }
        options.on("-h", "--help", "this text") do
          puts options
          exit
        end
      end
    end

    def known(names)
      unknown = names - Suites::SUITES.keys
      return names if unknown.empty?

      raise OptionParser::InvalidArgument,
            "unknown suite #{unknown.join(", ")}; known: #{Suites::SUITES.keys.join(", ")}"
    end

    def set_up
      return true unless @setup && @suites != ["trixie"]

      options = @setup_options + (lab? ? [] : ["--no-lab"])
      system(File.join(ROOT, "bin/setup"), *options, in: File::NULL)
    end

    # Are the gems of the lab needed?
    def lab?
      return @files.any? { |file| File.expand_path(file).start_with?("#{ROOT}/lab/") } unless @files.empty?

      @suites.include?("lab")
    end

    def summarize(results, seconds)
      puts "", "             passed   failed  skipped"
      by_suite = results.group_by { |result| result.job.suite }
      by_suite.sort_by { |name, _| Suites::SUITES.keys.index(name) }.each do |name, part|
        counts = sum(part)
        puts format("%-10s %8d %8d %8d", name, counts.passed, counts.failed, counts.skipped)
      end
      list("Skipped:", results.select { |result| result.skipped? && result.note })
      list_skipped_tests(results)
      list_notes(results)
      list_failed("Failed, but allowed to:", results.select(&:allowed_failure?))
      list_failed("Failed:", results.select(&:failed?))
      list_failed("Failed, then passed when retried alone:", results.select(&:passed_retry?).map(&:earlier))
      list_longest(results)
      total = sum(results)
      puts "", format("%d min %02d s", *seconds.round.divmod(60)), total
      total.failed.zero? && total.passed.positive? ? 0 : 1
    end

    # One line for each reason, with the jobs that have it.
    def list(title, results)
      return if results.empty?

      puts "", title
      results.group_by { |result| result.log ? result : result.note }.each_value do |alike|
        names = alike.map { |result| result.job.name }
        names = names.first(3) + ["and #{names.size - 3} more"] if names.size > 4
        first = alike.first
        puts "  #{names.join(", ")}: #{[first.note, first.log && relative(first.log)].compact.join("; ")}"
      end
    end

    # Repeats at the end why jobs failed.
    def list_failed(title, results)
      list(title, results)
      results.each do |result|
        lines = Counts.failures(result.output)
        next if lines.empty?

        puts "", "#{result.job.name}:"
        lines.first(FAILURE_LINES).each { |line| puts "  #{line}" }
      end
    end

    # Processor time tells what a job costs on any machine, elapsed time what it waited for.
    def list_longest(results)
      return if results.size <= LONGEST_JOBS

      puts "", format("%.0f s of processor time; most of it:", results.sum(&:cpu_seconds))
      results.max_by(LONGEST_JOBS, &:cpu_seconds).each do |result|
        puts format("  %7.1f s, %7.1f s elapsed  %s", result.cpu_seconds, result.seconds, result.job.name)
      end
    end

    # Why single tests were skipped, each reason once.
    def list_skipped_tests(results)
      reasons = results.flat_map do |result|
        Counts.skip_reasons(result.output).map { |text| "#{result.job.name}: #{text}" }
      end
      return if reasons.empty?

      puts "", "Skipped tests:"
      reasons.tally.each { |reason, count| puts "  #{reason}#{" (#{count} tests)" if count > 1}" }
    end

    # Notes of jobs that inform people.
    def list_notes(results)
      results.select { |result| result.job.may_fail }.each do |result|
        notes = Counts.notes(result.output)
        puts "", "#{result.job.name}:", notes.map { |text| "  #{text}" } if notes.any?
      end
    end

    def sum(results)
      results.map(&:counts).reduce(Counts.none, :+)
    end

    def relative(path)
      path.delete_prefix("#{ROOT}/")
    end
  end
end
