# frozen_string_literal: true

require "fileutils"
require_relative "runner"

module House
  # Runs failed jobs once more, one at a time. A test of a timeout may fail on a busy machine and pass alone; a defect
  # fails again. The first failure is printed when it happens, its output is kept, and the summary lists it. A job that
  # runs jobs of its own retries them itself.
  class RetryFailed
    # Where more jobs fail, none is run again.
    MOST = 3

    # @param log_dir [String] where outputs are kept
    # @param out [IO] where progress is printed
    def initialize(log_dir:, out: $stdout)
      @log_dir = log_dir
      @out = out
    end

    # @param results [Array<House::Job::Result>]
    # @return [Array<House::Job::Result>] the new result of each job that was run again, with the earlier one in it
    def run(results)
      failed = results.select do |result|
        result.failed? && result.log && result.job.kind != :build && !result.job.retries
      end
      return results if failed.empty? || failed.size > MOST

      @out.puts "", "Retrying what failed:"
      results.map { |result| failed.include?(result) ? run_again(result) : result }
    end

    private

    def run_again(result)
      log = "#{result.log.delete_suffix(".log")}.first.log"
      FileUtils.mv(result.log, log)
      retried = Runner.new([result.job], lanes: 1, log_dir: @log_dir, out: @out).run.first
      retried.earlier = result.dup.tap { |earlier| earlier.log = log }
      retried
    end
  end
end
