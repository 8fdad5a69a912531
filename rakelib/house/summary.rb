# frozen_string_literal: true

require_relative "counts"
require_relative "suites"

module House
  # The end of bin/test's output: counts of each suite, what failed and why, what was skipped and why, the longest jobs.
  class Summary
    # Lines of a failed job in the summary.
    FAILURE_LINES = 40
    # Jobs in the summary's list of those that took most processor time.
    LONGEST_JOBS = 10

    # Prints it.
    #
    # @param results [Array<House::Result>]
    # @param seconds [Numeric] the whole run took
    # @return [Integer] exit code: 0 if something passed and nothing failed
    def print(results, seconds)
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
      list_retried(results)
      list_longest(results)
      total = sum(results)
      puts "", format("%d min %02d s", *seconds.round.divmod(60)), total
      total.failed.zero? && total.passed.positive? ? 0 : 1
    end

    private

    # One line for each reason, with the jobs that have it.
    def list(title, results)
      return if results.empty?

      puts "", title
      results.group_by { |result| result.log ? result : result.note }.each_value do |alike|
        names = alike.map { |result| result.job.name }
        names = names.first(3) + ["and #{names.size - 3} more"] if names.size > 4
        first = alike.first
        puts "  #{names.join(", ")}: #{[first.note, first.log && Environment.relative(first.log)].compact.join("; ")}"
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

    # The jobs of other runs of bin/test.
    def list_retried(results)
      results.select { |result| result.job.retries }.each do |result|
        lines = Counts.retried(result.output)
        next if lines.empty?

        puts "", "#{result.job.name}, failed there, then passed when retried alone:", *lines.map { |line| "  #{line}" }
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
  end
end
