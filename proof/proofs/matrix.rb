# frozen_string_literal: true

require_relative "../support/base"
require_relative "../../rakelib/house/matrix_run"

module Proof
  # Runs the tests on every Rails, compiler, level of optimization, sanitizer and processor that can be had.
  class Matrix < Base
    NAME = "matrix"
    TITLE = "It is the same on every supported Rails, Ruby, compiler, level of optimization and processor"
    HELP = "all tests on each Rails, compiler, level, sanitizer, processor (bin/test --matrix)"

    # Cheap ones that bin/test has no like of, and tests of them that take no time.
    QUICK_CELLS = ["clang-O1", "aarch64-O0", "i686"].freeze
    QUICK_TESTS = ["cache_test", "crc_test", "record_test"].freeze

    # Where no other compiler is installed, so that there is something to count.
    QUICK_AT_LEAST = "gcc-O1"

    LIMITS = "aarch64 is qemu-user: its instructions and system calls, but the order of loads and stores of the " \
             "machine underneath; helgrind and drd are not used, for they know no atomics"
    private_constant :LIMITS

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      cells = House::Matrix.new(tests: quick ? QUICK_TESTS : nil).choose(quick ? quick_cells : [])
      run = House::MatrixRun.new(cells, lanes: House::Environment.processors, log_dir: work("logs"), out: $stderr,
                                        install: !quick)
      run.run
      tell(report, cells.to_h { |cell| [cell.name, cell] }, run.results)
    end

    private

    def quick_cells
      House::MatrixNeeds.met?(:clang) ? QUICK_CELLS : [QUICK_AT_LEAST, *QUICK_CELLS]
    end

    def tell(report, cells, results)
      results.sort_by { |result| cells.keys.index(result.job.name) }.each do |result|
        tell_cell(report, cells.fetch(result.job.name), result)
      end
      report.count("cells passed", results.count { |result| !result.failed? && !result.skipped? })
      report.count("tests passed in all of them", results.sum { |result| result.counts.passed })
      report.count("cells skipped", results.count(&:skipped?))
      report.note(quick ? "the quick run has some of the engine's tests in a few cells" : LIMITS)
    end

    def tell_cell(report, cell, result)
      what = "#{cell.name} (#{cell.facts.values.join(", ")})"
      if result.skipped?
        report.note("not run: #{what}: #{result.note}")
      else
        report.count("tests passed in #{what}", result.counts.passed)
        report.fail("#{what}: #{result.counts}; #{result.note}; see #{result.log}") if result.failed?
      end
    end
  end
end
