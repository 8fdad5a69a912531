# frozen_string_literal: true

require_relative "environment"
require_relative "gem_tests"
require_relative "job"
require_relative "rails_tests"
require_relative "stack"

module House
  # The contents page of bin/test: which jobs there are. Owns no mechanics.
  module Suites
    # name, what it is (shown by --help)
    SUITES = {
      "build" => "the extension and the engine compile, warnings being errors",
      "engine" => "C tests of the engine",
      "asan" => "the same under AddressSanitizer and UndefinedBehaviorSanitizer, and threads under ThreadSanitizer",
      "ruby" => "Ruby tests (test/)",
      "tools" => "the same of what its developers use: bin/, rakelib/, bench/, proof/, the documents",
      "rails" => "the tests of store and sessions on the other Rails of this Ruby: 7.1 (and Rack 2) on 3.1, 8.0 on 3.3",
      "contract" => "Rails 7.2's own tests of cache stores; Rails', Rack's and Dalli's of sessions: all over Larder",
      "newest" => "the same on the newest Rails for this Ruby, and what has changed there; it may fail",
      "lab" => "tests of the lab (lab/test/)",
      "proof" => "a bounded part of each attack of bin/proof: kills, models, fuzzers, hostile files",
      "guards" => "instructions that a get, set, fetch or write takes, against those on record (valgrind)",
      "style" => "RuboCop, clang-format, who may require whom, what stores to shared memory",
      "docs" => "every public class and method is documented",
      "gems" => "both gems build, install into an empty directory and run",
      "trixie" => "Ruby tests of the gem on Debian trixie: Ruby 3.3, Rails 8.1 and 8.0 (with --all; root only)"
    }.freeze

    # What is run without any option.
    DEFAULT = (SUITES.keys - ["trixie"]).freeze

    # Half a minute, for the loop of editing and testing.
    FAST = ["build", "engine", "ruby", "style"].freeze

    # Tests of what is no part of the gem; a second stack does not repeat them.
    OF_TOOLS = ["test/house", "test/bench", "test/proof"].freeze

    # Tests of what lies on Rails and Rack.
    OF_RAILS = ["test/active_support", "test/action_dispatch", "test/rack", "test/larder/sessions"].freeze

    CLANG_FORMAT = 14

    # The slow ones, in seconds; a job that is not here is taken for short.
    WEIGHTS = {
      "lab/test/larder/lab/commands/" => 120, "test/survival/" => 60, "test/rails/" => 20, "test/guards/" => 20,
      "test/examples/" => 8, "test/larder/cli" => 20,
      "test/bench/targets" => 20, "test/larder/cache/garbage_collection" => 15, "test/house/engine_alone" => 8,
      "test/house/gem" => 20, "lab/test/" => 5
    }.freeze

    module_function

    # @param names [Array<String>] keys of SUITES
    # @param fast [Boolean] shorten the tests that kill processes at random
    # @return [Array<House::Job>]
    def jobs(names, fast: false)
      all = names.flat_map { |name| public_send("#{name}_jobs") }.uniq(&:name)
      fast ? all.each { |job| job.env["LARDER_SURVIVE_SECONDS"] = "1" } : all
    end

    # @param files [Array<String>] test files, of Ruby or C
    # @param options [Array<String>] handed to minitest
    # @return [Array<House::Job>] what is needed to run just these
    def jobs_for_files(files, options)
      files = files.map { |file| File.expand_path(file).delete_prefix("#{ROOT}/") }
      ruby, other = files.partition { |file| file.end_with?(".rb") && File.file?(File.join(ROOT, file)) }
      c, unknown = other.partition { |file| file.start_with?("engine/") && File.file?(File.join(ROOT, file)) }
      raise ArgumentError, "no such test file: #{unknown.join(", ")}" unless unknown.empty?

      jobs = ruby.empty? ? [] : [compile_job]
      jobs += ruby.map { |file| ruby_job(file, options) }
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
      [Job.new("engine", suite: "engine", weight: 60, limit: 600, argv: ["make", "-sC", "engine", "test", "DEV=1"])]
    end

    def asan_jobs
      [Job.new("engine under ASan and UBSan", suite: "asan", weight: 100, limit: 900,
                                              argv: ["make", "-sC", "engine", "asan-test", "DEV=1"]),
       Job.new("engine under TSan", suite: "asan", weight: 60, limit: 600,
                                    argv: ["make", "-sC", "engine", "tsan-test", "DEV=1"])]
    end

    def ruby_jobs
      others = ["test/guards", *OF_TOOLS].flat_map { |directory| test_files(directory) }
      (test_files("test") - others).map { |file| ruby_job(file) }
    end

    def tools_jobs
      OF_TOOLS.flat_map { |directory| test_files(directory) }.map { |file| ruby_job(file, suite: "tools") }
    end

    # Rails that the fast path is enabled on, and that no other suite runs.
    def rails_jobs
      others = Environment.gemfiles.drop(1)
      others.flat_map do |gemfile|
        missing = "the gems of #{gemfile.delete_prefix("#{ROOT}/")} are not installed" unless installed?(gemfile)
        settings = { suite: "rails", gemfile: gemfile, missing: missing }
        OF_RAILS.flat_map { |directory| test_files(directory) }.map { |file| ruby_job(file, **settings) }
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
      [rails_tests_job, job_of_rails_tests("Rails' tests of cache stores", "contract", argv, missing: missing),
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
      test_files("test/guards").map { |file| ruby_job(file, suite: "guards") }
    end

    # Each is a job of its own. They share the machine with other jobs and therefore judge no time.
    def proof_jobs
      list = IO.popen([Environment.variables, "ruby", File.join(ROOT, "bin/proof"), "--names"], &:readlines)
      list.map do |line|
        name, missing = line.chomp.split("\t")
        Job.new("proof: #{name}", suite: "proof", kind: :one, weight: 90, limit: 600, after: ["compile"],
                                  missing: missing, env: Environment.variables,
                                  argv: ["ruby", "-w", "bin/proof", "--quick", name])
      end
    end

    def lab_jobs
      test_files("lab/test").map { |file| ruby_job(file) }
    end

    def test_files(directory)
      Dir[File.join(ROOT, directory, "**/*_test.rb")].map { |path| path.delete_prefix("#{ROOT}/") }
    end

    # Each file is a process of its own: tests fork, kill and change the world, and no file may lean on another.
    def ruby_job(file, options = [], suite: nil, gemfile: nil, missing: nil)
      lab = file.start_with?("lab/")
      name = gemfile ? "#{file}, #{File.basename(gemfile, ".gemfile")}" : file
      paths = lab ? ["lab/lib", "lab/test", "lib"] : ["lib", "test"]
      includes = paths.map { |path| "-I#{File.join(ROOT, path)}" }
      argv = ["ruby", "-w", "-rbundler/setup", *includes, file, "--show-skips", *options]
      weight = WEIGHTS.find { |prefix, _| file.start_with?(prefix) }&.last || 2
      gemfile ||= lab ? Environment.lab_gemfile : Environment.gemfile
      Job.new(name, suite: suite || (lab ? "lab" : "ruby"), argv: argv, after: ["compile"], weight: weight,
                    missing: missing, env: Environment.variables(gemfile))
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

    def gems_jobs
      [Job.new("gems in an empty directory", suite: "gems", weight: 50, env: Environment.variables,
                                             argv: ["ruby", "-w", "rakelib/house/packages.rb"], after: ["compile"])]
    end

    # @param files [Array<String>] test files, none: all
    # @param options [Array<String>] handed to minitest
    def trixie_jobs(files = [], options = [])
      files = files.map { |file| File.expand_path(file).delete_prefix("#{ROOT}/") }
      argv = ["ruby", "-w", "rakelib/house/stack.rb", "trixie", *files]
      argv += ["--", *options] unless options.empty?
      [Job.new("Debian trixie, Ruby 3.3, Rails 8.1 and 8.0", suite: "trixie", weight: 500, limit: 1200,
                                                     missing: Stack.missing, argv: argv)]
    end
  end
end
