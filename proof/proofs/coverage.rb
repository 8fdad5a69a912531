# frozen_string_literal: true

require_relative "../support/base"
require_relative "../support/traces"

module Proof
  # Says which lines and branches of the engine its own tests reach. They are built by clang, whose counters live in a
  # file that is mapped: those of children that are killed, or end without a word, count too.
  class Coverage < Base
    NAME = "coverage"
    TITLE = "The engine's tests and failing calls reach nearly all of its lines and branches"
    HELP = "lines and branches of engine/src that the engine's tests reach"
    LEAST_LINES = 95.0
    LEAST_BRANCHES = 85.0
    WORST = 5
    TOOLS = %w[clang llvm-profdata llvm-cov].freeze
    INSTRUMENTS = "-fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation " \
                  "-Wno-unused-command-line-argument"

    # @return [String, nil]
    def missing
      absent = TOOLS.reject { |tool| installed?(tool) }
      "#{absent.join(", ")} (Debian: clang, llvm)" unless absent.empty?
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      options = { "CC" => "clang", "OPTIMIZE" => "-O1", "EXTRA" => INSTRUMENTS }
      return unless make(report, quick ? "unit-programs" : "programs", variables: options)

      FileUtils.rm_rf(work("counters"))
      run_all(report)
      traces = merge(report) or return
      judge(report, traces)
    end

    private

    def installed?(tool)
      ENV.fetch("PATH", "").split(File::PATH_SEPARATOR).any? { |dir| File.executable?(File.join(dir, tool)) }
    end

    def programs
      patterns = ["test/*_test", *("crash/*_crash" unless quick)]
      patterns.flat_map { |pattern| Dir["#{work("build")}/#{pattern}"] }.select { |path| File.executable?(path) }
    end

    # As many at a time as there are processors. What they count is told by proofs of their own.
    def run_all(report)
      queue = Queue.new
      programs.each { |program| queue << program }
      failures = Queue.new
      workers = Array.new(Etc.nprocessors) do
        Thread.new { run_next(queue.pop(true), failures) until queue.empty? }
      end
      workers.each(&:join)
      report.fail(failures.pop) until failures.empty?
      report.count("programs of tests, with all their children", programs.size)
    end

    def run_next(program, failures)
      name = File.basename(program)
      inner = Report.new(name, name)
      # A file for each program that it starts, too (%m).
      env = { "LLVM_PROFILE_FILE" => "#{work("counters")}/#{name}-%m%c.profraw" }
      env["LARDER_SURVIVE_SECONDS"] = "1" if quick
      Program.new([program], dir: ROOT, log: "#{work("logs")}/#{name}.log", env: env).run(inner)
      inner.failures.each { |failure| failures << failure }
    end

    def merge(report)
      merged = "#{work}/merged.profdata"
      counters = Dir["#{work("counters")}/*.profraw"]
      return unless run(report, ["llvm-profdata", "merge", "-o", merged, *counters])

      first, *rest = programs
      argv = ["llvm-cov", "export", "-format=lcov", "-instr-profile=#{merged}", first,
              *rest.flat_map { |path| ["-object", path] }, "#{ROOT}/engine/src"]
      run(report, argv, log: "llvm-cov") && Traces.parse(last_output)
    end

    def judge(report, traces)
      report.count("lines of the engine", traces.sum(&:lines))
      report.count("of its lines reached", share(traces, :lines, :reached_lines), unit: "%")
      report.count("branches, each way of each condition", traces.sum(&:branches))
      report.count("of its branches reached", share(traces, :branches, :reached_branches), unit: "%")
      note_worst(report, traces)
      check(report, "lines", share(traces, :lines, :reached_lines), LEAST_LINES)
      check(report, "branches", share(traces, :branches, :reached_branches), LEAST_BRANCHES)
    end

    def share(traces, all, reached)
      100.0 * traces.sum(&reached) / [traces.sum(&all), 1].max
    end

    def check(report, what, share, least)
      report.fail(format("%.2f %% of the %s reached, %.0f %% wanted", share, what, least)) if share < least
    end

    def note_worst(report, traces)
      File.write("#{work}/unreached.txt", traces.flat_map(&:unreached).join("\n"))
      traces.max_by(WORST) { |trace| trace.branches - trace.reached_branches }.each do |trace|
        report.note(format("%<name>s: %<lines>d of %<all_lines>d lines and %<branches>d of %<all_branches>d branches " \
                           "are not reached", trace.gaps))
      end
      report.note("every one: tmp/proof/coverage/unreached.txt")
    end
  end
end
