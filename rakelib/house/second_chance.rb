# frozen_string_literal: true

require "fileutils"
require_relative "runner"

module House
  # Runs what failed beside others once more, alone. Tests of what happens when time runs out fail on a machine that has
  # none to spare, and pass then; what is wrong fails again. Nothing is hidden by it: the first failure was shown when
  # it came, its output is kept, and the sum says which jobs passed only then.
  class SecondChance
    # More that fail than these are no accident.
    MOST = 3

    # @param log_dir [String] where outputs are kept
    # @param out [IO] where progress is printed
    def initialize(log_dir:, out: $stdout)
      @log_dir = log_dir
      @out = out
    end

    # @param results [Array<House::Job::Result>]
    # @return [Array<House::Job::Result>] of those that were run again the second, which has the earlier one
    def give(results)
      failed = results.select { |result| result.failed? && result.log && result.job.kind != :build }
      return results if failed.empty? || failed.size > MOST

      @out.puts "", "Once more, alone:"
      results.map { |result| failed.include?(result) ? again(result) : result }
    end

    private

    def again(result)
      log = "#{result.log.delete_suffix(".log")}.first.log"
      FileUtils.mv(result.log, log)
      second = Runner.new([result.job], lanes: 1, log_dir: @log_dir, out: @out).run.first
      second.earlier = result.dup.tap { |earlier| earlier.log = log }
      second
    end
  end
end
