# frozen_string_literal: true

require "fileutils"
require "open3"
require_relative "../support/base"

module Proof
  # Feeds the engine with streams of operations and with damaged files that fuzzers think up, and replays those that
  # were kept. What is missing of clang and AFL++ is said, and the rest done.
  class Fuzzing < Base
    NAME = "fuzz"
    TITLE = "No stream of operations and no damaged file makes the engine lie, hang or crash"
    HELP = "fuzzers: operations against a naive model, damaged files (clang and AFL++ where installed)"

    TARGETS = { "operations" => "streams of operations", "file" => "damaged files" }.freeze
    SOURCES = "engine/fuzz"
    FULL_MINUTES = 60
    QUICK_SECONDS = 12
    QUICK_RUNS = 400
    SLOWEST_SECONDS = 30 # of one input, on a machine that does other things too
    LIBFUZZER_SHARE = 0.6 # of the time; AFL++ has the rest
    SANITIZERS = { "ASAN_OPTIONS" => "abort_on_error=1:symbolize=0:detect_leaks=0",
                   "UBSAN_OPTIONS" => "halt_on_error=1:abort_on_error=1:symbolize=0" }.freeze
    AFL = { "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES" => "1", "AFL_SKIP_CPUFREQ" => "1", "AFL_NO_AFFINITY" => "1",
            "AFL_NO_UI" => "1", "AFL_FORKSRV_INIT_TMOUT" => "60000" }.merge(SANITIZERS).freeze

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      in_memory do |directory|
        @env = { "LARDER_FUZZ_DIRECTORY" => directory }
        fuzzable = clang_fuzzes?
        replay(report) unless quick && fuzzable # libFuzzer begins with the kept inputs
        TARGETS.each_key { |target| corpus(report, target) }
        fuzzable ? libfuzzer(report) : report.note("clang or its libFuzzer is not installed: both are left out")
        afl(report) unless quick
        coverage(report) if fuzzable && !quick
      end
    end

    private

    # A directory for cache files, in memory where that can be, and gone afterwards whatever a crash leaves there.
    def in_memory
      base = File.writable?("/dev/shm") ? "/dev/shm" : work
      directory = File.join(base, "larder-proof-fuzz-#{Process.pid}")
      FileUtils.mkdir_p(directory)
      yield directory
    ensure
      FileUtils.rm_rf(directory)
    end

    def tool(*names)
      names.find { |name| ENV["PATH"].split(":").any? { |path| File.executable?(File.join(path, name)) } }
    end

    # Debian has clang without what it needs to link a fuzzer.
    def clang_fuzzes?
      clang = tool("clang-14", "clang") or return false
      source = "int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return data && size ? 0 : 0; }"
      _, status = Open3.capture2e(clang, "-fsanitize=fuzzer,address", "-xc", "-", "-o", File.join(work, "links"),
                                  stdin_data: source)
      status.success?
    end

    def build(report, variant)
      argv = ["make", "-s", "-C", SOURCES, "-j#{Etc.nprocessors}", variant, "OUT=#{work}"]
      run(report, argv, env: @env, log: "make-#{variant}")
    end

    def replay(report)
      build(report, "replay")
      build(report, "replay-asan") unless quick
    end

    def corpus(report, target)
      files = Dir[File.join(ROOT, SOURCES, "corpus", target, "*")]
      report.count("inputs kept of #{TARGETS[target]}", files.size)
      found = files.count { |file| File.basename(file).start_with?("found-") }
      report.count("of these, inputs that once found a defect", found)
    end

    def libfuzzer(report)
      return unless build(report, "libfuzzer")

      TARGETS.each { |target, what| fuzz(report, target, what) }
    end

    # The kept inputs come first; what is found beyond them stays in tmp/proof/fuzz.
    def fuzz(report, target, what)
      seconds = quick ? QUICK_SECONDS : (seconds_for(LIBFUZZER_SHARE) / TARGETS.size).round
      argv = [File.join(work("libfuzzer"), target), "-max_total_time=#{seconds}", "-timeout=#{SLOWEST_SECONDS}",
              "-max_len=2400", "-rss_limit_mb=4096", "-print_final_stats=1", "-artifact_prefix=#{work("crashes")}/",
              *(quick ? ["-seed=1", "-runs=#{QUICK_RUNS}"] : []), work("found/#{target}"),
              File.join(ROOT, SOURCES, "corpus", target)]
      FileUtils.rm_rf(Dir[File.join(work("found/#{target}"), "*")]) if quick
      run(report, argv, env: @env.merge(SANITIZERS), log: "libfuzzer-#{target}")
      told(report, what)
    end

    def told(report, what)
      report.count("#{what} run by libFuzzer", last_output[/^stat::number_of_executed_units: +(\d+)/, 1].to_i)
      edges, features = last_output.scan(/cov: (\d+) ft: (\d+)/).last
      report.count("edges of the program that #{what} cover", edges.to_i) if edges
      report.count("features (edges, and how often) that #{what} cover", features.to_i) if features
    end

    def afl(report)
      return report.note("AFL++ is not installed: it is left out") unless tool("afl-fuzz") && tool("afl-clang-fast")
      return unless build(report, "afl")

      TARGETS.each { |target, what| afl_fuzz(report, target, what) }
    end

    def afl_fuzz(report, target, what)
      seconds = (seconds_for(1 - LIBFUZZER_SHARE) / TARGETS.size).round
      out = work("afl-found/#{target}")
      FileUtils.rm_rf(out)
      argv = ["afl-fuzz", "-i", File.join(ROOT, SOURCES, "corpus", target), "-o", out, "-V", seconds.to_s,
              "-t", (SLOWEST_SECONDS * 1000).to_s, "-m", "none", "--", File.join(work("afl"), target)]
      run(report, argv, env: @env.merge(AFL), log: "afl-#{target}")
      afl_told(report, File.join(out, "default"), what)
    end

    def afl_told(report, directory, what)
      stats = File.exist?("#{directory}/fuzzer_stats") ? File.read("#{directory}/fuzzer_stats") : ""
      report.count("#{what} run by AFL++", stats[/^execs_done +: (\d+)/, 1].to_i)
      report.count("edges of the program that #{what} by AFL++ cover", stats[/^edges_found +: (\d+)/, 1].to_i)
      bad = Dir["#{directory}/{crashes,hangs}/id*"]
      report.fail("AFL++: #{bad.size} #{what} that crash or hang, the first: #{bad.first}") unless bad.empty?
    end

    def seconds_for(share)
      (minutes || FULL_MINUTES) * 60 * share
    end

    def coverage(report)
      return report.note("llvm-cov is not installed: coverage is left out") unless tool("llvm-cov-14", "llvm-cov")
      return unless build(report, "coverage")

      total = last_output[/^TOTAL.*/].to_s.scan(/(\d+\.\d+)%/).flatten
      return report.note("llvm-cov said nothing") if total.empty?

      ["functions", "lines", "branches"].zip(total) do |what, share|
        report.count("of the #{what} in engine/src are reached by the kept inputs alone", share.to_f, unit: "%")
      end
    end
  end
end
