# frozen_string_literal: true

require_relative "../../lib/larder/cli/errors"
require_relative "environment"
require_relative "gem_tests"
require_relative "job"
require_relative "rails_tests"
require_relative "stack"

module House
  # Which jobs bin/test runs, by suite.
  module Suites
    # name, what it is (shown by --help)
    SUITES = {
      "build" => "the extension and the engine compile, warnings being errors",
      "engine" => "C tests of the engine, without a sanitizer (with --fast or --only)",
      "asan" => "C tests under AddressSanitizer and UBSan, threads under ThreadSanitizer; crash points",
      "ruby" => "Ruby tests (test/)",
      "stack" => "those Ruby tests whose result depends on the Ruby, Rails or Rack (part of ruby)",
      "tools" => "Ruby tests of the development tools: bin/, rakelib/, bench/, proof/, the documents",
      "rails" => "some tests of store and sessions on the other Rails of this Ruby: 7.1 on 3.1, 8.0 on 3.3",
      "contract" => "Rails 7.2's own tests of cache stores; Rails', Rack's and Dalli's of sessions: all over Larder",
      "newest" => "the same on the newest Rails for this Ruby, and what has changed there; allowed to fail",
      "lab" => "tests of the lab (lab/test/)",
      "proof" => "a bounded part of those proofs of bin/proof that are short and repeat no other suite",
      "guards" => "instructions (valgrind) of calls, and pages and system calls of a set, against those on record",
      "style" => "RuboCop, clang-format, dependencies between layers, stores to shared memory",
      "docs" => "every public class and method has YARD documentation",
      "trixie" => "the suites stack, rails and newest on Debian trixie: Ruby 3.3, Rails 8.1 and 8.0 (root only)"
    }.freeze

    # What --all runs: the engine under sanitizers only, and of Ruby's tests all.
    ALL = (SUITES.keys - ["engine", "stack"]).freeze

    # What is run without any option.
    DEFAULT = (ALL - ["trixie"]).freeze

    # Takes half a minute; for use while editing.
    FAST = ["build", "engine", "ruby", "style"].freeze

    # Tests of the development tools.
    OF_TOOLS = ["test/{house,bench,proof}/**/*_test.rb"].freeze

    # Tests of the extension, and of the parts that Rails and Rack are under. `bin/test --matrix rails` has more: the
    # tests that take long, the pages in a browser, the sessions behind their middleware.
    OF_STACK = [
      "test/active_support/**/*_test.rb", "test/action_dispatch/**/*_test.rb", "test/rack/**/*_test.rb",
      "test/larder/{bytes/cache,dashboard,remote,store}/**/*_test.rb",
      "test/larder/bytes/cache_test.rb", "test/larder/codecs/{cacheable,coder,tree*}_test.rb",
      "test/larder/test_helper{_test.rb,/**/*_test.rb}", "test/generators/**/*_test.rb",
      "test/rails/{dashboard,dashboard_pages,first_hour,five_commands}_test.rb"
    ].freeze
    NOT_OF_STACK = ["test/larder/dashboard/browser_test.rb",
                    "test/active_support/cache/larder_store/fast_path_{check,collections}_test.rb",
                    "test/larder/bytes/cache/garbage_collection_test.rb"].freeze

    # The smallest part of it that goes through each method of Rails that the store and the sessions build on. All of it
    # is run on each Rails by `bin/test --matrix rails`.
    OF_OTHER_RAILS = [
      "test/active_support/cache/larder_store/{fetch,multi,reading_writing,fast_path_guard,rails_contract}_test.rb",
      "test/action_dispatch/session/larder_store_test.rb", "test/rack/session/larder_test.rb"
    ].freeze

    # Proofs that only `bin/test --matrix proof` runs. Their bounded part repeats tests of another suite: `asan`
    # (coverage, crash, linear, security), `ruby` (contract, security), `tools` (machines, sessions, soak), and cells of
    # the matrix; or it takes about a minute and rarely fails: environment, fuzz; or it runs models alone: models.
    PROOFS_OF_MATRIX = ["contract", "coverage", "crash", "environment", "fuzz", "linear", "machines", "matrix",
                        "models", "security", "sessions", "soak"].freeze

    # Run once without a sanitizer, by the proof `faults`: thousands of forks, which under a sanitizer take minutes.
    CALLS_TESTS = "calls_test calls_use_test"

    # Where YJIT is on, it compiles methods at their second call, not the thirtieth, which few tests reach.
    COMPILED = ("--yjit-call-threshold=2" if ENV["RUBY_YJIT_ENABLE"] == "1")

    CLANG_FORMAT = 14

    # Test files that take long, in seconds, by what their paths begin with. Each is a job of its own.
    WEIGHTS = {
      "lab/test/larder/lab/commands" => 30, "lab/test/larder/lab/user_servers" => 20,
      "lab/test/larder/lab/server" => 20, "lab/test/larder/lab/cleanup" => 15,
      "lab/test/larder/lab/reports/html_" => 10, "lab/test/larder/lab/advice/lines" => 10,
      "test/rails/rails_application" => 40, "test/rails/" => 30, "test/guards/" => 40, "test/examples/" => 20,
      "test/larder/cli" => 20, "test/larder/dashboard/browser" => 15,
      "test/larder/bytes/doctor" => 10, "test/larder/bytes/own_failure" => 10,
      "test/larder/bytes/cache/garbage_collection" => 5, "test/larder/store/records" => 5,
      "test/larder/codecs/cacheable/promise" => 10,
      "test/active_support/cache/larder_store/fast_path_collections" => 20,
      "test/active_support/cache/larder_store/fast_path_check" => 15,
      "test/active_support/cache/larder_store/plain_values" => 10,
      "test/bench/targets" => 25, "test/house/engine_alone" => 15, "test/house/gem" => 30,
      "test/house/commands" => 12, "test/house/session_guide" => 12, "test/house/testing_guide" => 30,
      "test/house/development_guide" => 30, "test/house/change_over_guide" => 30, "test/house/deployment" => 25,
      "test/proof/soak" => 20, "test/proof/sessions" => 10, "test/proof/machines_test" => 60
    }.freeze

    # How many of the other test files share a job.
    GROUP_FILES = 12

    module_function

    # @param names [Array<String>] keys of SUITES
    # @param fast [Boolean] shorten the tests that kill processes at random
    # @param slow [Boolean] run slow tests too
    # @param retry_failed [Boolean] the second stack runs its failed jobs once more, each alone
    # @return [Array<House::Job>]
    def jobs(names, fast: false, slow: false, retry_failed: false)
      all = names.flat_map do |name|
        name == Stack::RELEASE ? stack_jobs_on(name, retry_failed: retry_failed) : public_send("#{name}_jobs")
      end
      all.uniq!(&:name)
      all.each { |job| job.env["LARDER_SURVIVE_SECONDS"] = "1" } if fast
      slow ? all.each { |job| job.env["LARDER_SLOW_TESTS"] = "1" } : all
    end

    # @param files [Array<String>] test files, of Ruby or C
    # @param options [Array<String>] handed to minitest
    # @param slow [Boolean] their slow tests too
    # @return [Array<House::Job>] what is needed to run just these
    def jobs_for_files(files, options, slow: true)
      files = files.map { |file| Environment.relative(File.expand_path(file)) }
      ruby, other = files.partition { |file| file.end_with?(".rb") && File.file?(File.join(ROOT, file)) }
      c, unknown = other.partition { |file| file.start_with?("engine/") && File.file?(File.join(ROOT, file)) }
      raise Larder::CLI::UsageError, "no such test file: #{unknown.join(", ")}" unless unknown.empty?

      jobs = ruby.empty? ? [] : [compile_job]
      jobs += ruby.map { |file| ruby_job(file, options) }
      jobs.each { |job| job.env["LARDER_SLOW_TESTS"] = "1" } if slow
      c.empty? ? jobs : jobs + engine_jobs
    end

    def build_jobs
      [compile_job]
    end

    def compile_job
      Job.new("compile", suite: "build", kind: :build, weight: 1000, argv: ["bundle", "exec", "rake", "compile"],
                         env: Environment.variables.merge("LARDER_DEV" => "1"))
    end

    def engine_jobs
      [Job.new("engine", suite: "engine", weight: 60, argv: ["make", "-sC", "engine", "test", "DEV=1"])]
    end

    # The crash points are a program each, on files in memory: a disk would take most of the time. A fork under a
    # sanitizer takes four times as long, so the matrix has them under sanitizers.
    def asan_jobs
      memory = File.writable?("/dev/shm") ? { "TMPDIR" => "/dev/shm" } : {}
      make = ["make", "-sC", "engine", "DEV=1"]
      [Job.new("engine under ASan and UBSan", suite: "asan", weight: 100,
                                              argv: [*make, "asan-test", "ASAN_TARGET=unit-test",
                                                     "WITHOUT=#{CALLS_TESTS}"]),
       Job.new("engine's crash points", suite: "asan", weight: 60, env: memory,
                                        argv: [*make, "crash-test", "OPTIMIZE=-O1", "BUILD=build/O1"]),
       Job.new("engine under TSan", suite: "asan", weight: 40, argv: [*make, "tsan-test"])]
    end

    def ruby_jobs
      others = test_files("test/guards/**/*_test.rb", *OF_TOOLS)
      ruby_test_jobs(test_files("test/**/*_test.rb") - others)
    end

    def stack_jobs
      ruby_test_jobs(test_files(*OF_STACK) - test_files(*NOT_OF_STACK), suite: "stack")
    end

    def tools_jobs
      ruby_test_jobs(test_files(*OF_TOOLS), suite: "tools")
    end

    # Rails that the fast path is enabled on, and that no other suite runs.
    def rails_jobs
      Environment.gemfiles.drop(1).map do |gemfile|
        missing = "the gems of #{Environment.relative(gemfile)} are not installed" unless installed?(gemfile)
        rails = File.basename(gemfile, ".gemfile")
        group_job("tests on #{rails}", test_files(*OF_OTHER_RAILS), suite: "rails", gemfile: gemfile, missing: missing)
      end
    end

    def installed?(gemfile)
      system(Environment.variables(gemfile), "bundle", "check", out: File::NULL, err: File::NULL)
    end

    # On the Rails whose tests they are.
    def contract_jobs
      own = Environment.gemfile == Environment.gemfile_of(RailsTests::RAILS)
      missing = "these are tests of Rails #{RailsTests::RAILS}, which is not the one chosen here" unless own
      argv = ["ruby", "-w", "-rbundler/setup", "-Ilib", "test/rails/suites/run.rb", RailsTests.directory,
              "--show-skips"]
      over = argv.map { |word| word.sub(%r{suites/run}, "suites/remotes") }
      [rails_tests_job, job_of_rails_tests("Rails' tests of cache stores", "contract", argv, missing: missing),
       job_of_rails_tests("Rails' tests over two levels", "contract", over, missing: missing),
       gem_tests_job, peers_job(missing)]
    end

    # In directories of tests that the two jobs before it have fetched.
    def peers_job(missing)
      argv = ["ruby", "-w", "-rbundler/setup", "-Ilib", "-Itest", "test/larder/sessions/peers/run.rb",
              RailsTests.directory, GemTests.directory, "--show-skips"]
      job_of_rails_tests("peers' tests of sessions", "contract", argv, after: [gem_tests_job.name], missing: missing)
    end

    def gem_tests_job
      Job.new("tests of gems", suite: "build", kind: :build, weight: 1000,
                               argv: ["ruby", "-w", "rakelib/house/gem_tests.rb"])
    end

    def newest_jobs
      argv = ["ruby", "-w", "rakelib/house/newest_rails.rb"]
      [rails_tests_job, job_of_rails_tests("newest Rails", "newest", argv, may_fail: true)]
    end

    def rails_tests_job
      Job.new("Rails' tests", suite: "build", kind: :build, weight: 1000, missing: RailsTests.missing,
                              argv: ["ruby", "-w", "rakelib/house/rails_tests.rb"])
    end

    def job_of_rails_tests(name, suite, argv, after: [], missing: nil, may_fail: false)
      Job.new(name, suite: suite, argv: argv, env: Environment.variables, weight: 30, may_fail: may_fail,
                    after: ["compile", "Rails' tests", *after], missing: missing || RailsTests.missing)
    end

    def guards_jobs
      test_files("test/guards/**/*_test.rb").map { |file| ruby_job(file, suite: "guards") }
    end

    # Each is a job of its own. They share the machine with other jobs and therefore judge no time.
    def proof_jobs
      list = IO.popen([Environment.variables, "ruby", File.join(ROOT, "bin/proof"), "--names"], &:readlines)
      list.to_h { |line| line.chomp.split("\t", 2).values_at(0, 1) }.except(*PROOFS_OF_MATRIX).map do |name, missing|
        Job.new("proof: #{name}", suite: "proof", kind: :one, weight: 50, after: ["compile"],
                                  missing: missing, env: Environment.variables,
                                  argv: ["ruby", "-w", "bin/proof", "--quick", name])
      end
    end

    def lab_jobs
      ruby_test_jobs(test_files("lab/test/**/*_test.rb"))
    end

    # @param patterns [Array<String>] of paths
    # @return [Array<String>] paths
    def test_files(*patterns)
      Dir.glob(patterns, base: ROOT).sort
    end

    # Files that take long are a job each; the others are run in groups.
    def ruby_test_jobs(files, **settings)
      long, short = files.partition { |file| weight_of(file) }
      groups = short.each_slice(GROUP_FILES).map do |first, *rest|
        name = rest.empty? ? first : ["#{first} and #{rest.size} more", *settings[:suite]].join(", ")
        group_job(name, [first, *rest], **settings)
      end
      long.map { |file| ruby_job(file, **settings) } + groups
    end

    def weight_of(file)
      WEIGHTS.find { |prefix, _| file.start_with?(prefix) }&.last
    end

    # One process for each file: tests fork, kill processes and change global state.
    def ruby_job(file, options = [], **settings)
      test_job(file, [file], [file, "--show-skips", *options], weight: weight_of(file) || 2, **settings)
    end

    # Forks these processes from one that has loaded what all need.
    def group_job(name, files, **settings)
      arguments = ["rakelib/house/test_files.rb", *files, "--", "--show-skips"]
      test_job(name, files, arguments, weight: files.size, **settings)
    end

    def test_job(name, files, arguments, weight:, suite: nil, gemfile: nil, missing: nil)
      lab = files.first.start_with?("lab/")
      includes = (lab ? ["lab/lib", "lab/test", "lib"] : ["lib", "test"]).map { |path| "-I#{File.join(ROOT, path)}" }
      gemfile ||= lab ? Environment.lab_gemfile : Environment.gemfile
      Job.new(name, suite: suite || (lab ? "lab" : "ruby"), after: ["compile"], weight: weight, missing: missing,
                    env: Environment.variables(gemfile).merge("RUBYOPT" => COMPILED),
                    argv: ["ruby", "-w", "-rbundler/setup", *includes, *arguments])
    end

    def style_jobs
      [rubocop_job, clang_format_job, layers_job, stores_job]
    end

    def rubocop_job
      Job.new("RuboCop", suite: "style", kind: :one, weight: 15, env: Environment.variables,
                         argv: ["bundle", "exec", "rubocop", "--format", "simple", "--no-color"])
    end

    def clang_format_job
      files = Dir.chdir(ROOT) { Dir["{engine,ext}/**/*.{c,h}"].reject { |path| path.start_with?("engine/build/") } }
      program, missing = clang_format
      Job.new("clang-format", suite: "style", kind: :one, weight: 3, missing: missing,
                              argv: [program, "--dry-run", "-Werror", *files.sort])
    end

    # Releases of clang-format disagree, so only the one the sources were formatted with may judge.
    def clang_format
      program = ["clang-format-#{CLANG_FORMAT}", "clang-format"].find { |name| Environment.program?(name) }
      return ["clang-format", "clang-format #{CLANG_FORMAT} is not installed"] unless program

      version = IO.popen([program, "--version"], &:read)[/version (\d+)/, 1].to_i
      [program, version == CLANG_FORMAT ? nil : "clang-format is #{version}, not #{CLANG_FORMAT}"]
    end

    def layers_job
      Job.new("layers", suite: "style", kind: :one, argv: ["ruby", "-w", "rakelib/house/layers.rb"])
    end

    def stores_job
      Job.new("stores to shared memory", suite: "style", kind: :one, argv: ["ruby", "-w", "rakelib/house/stores.rb"])
    end

    def docs_jobs
      [Job.new("YARD", suite: "docs", kind: :one, weight: 8, env: Environment.variables,
                       argv: ["bundle", "exec", "ruby", "-w", "rakelib/house/documented.rb"])]
    end

    # @param name [String] of Stack::NAMES
    # @param files [Array<String>] test files, none: all
    # @param options [Array<String>] handed to minitest
    # @param retry_failed [Boolean] as of {jobs}
    # @return [Array<House::Job>]
    def stack_jobs_on(name, files = [], options = [], retry_failed: false)
      files = files.map { |file| Environment.relative(File.expand_path(file)) }
      argv = ["ruby", "-w", "rakelib/house/stack.rb", name, *("--retry-failed" if retry_failed), *files]
      argv += ["--", *options] unless options.empty?
      built = Stack::SOURCES.key?(name)
      title = built ? "#{name}, Rails 8.1 and 8.0" : "Debian trixie, Ruby 3.3, Rails 8.1 and 8.0"
      [Job.new(title, suite: name, weight: 500, missing: Stack.missing, argv: argv, retries: retry_failed)]
    end
  end
end
