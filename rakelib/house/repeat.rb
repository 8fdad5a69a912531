# frozen_string_literal: true

module House
  # Runs each job many times, to find tests that fail now and then: bin/test --repeat 50 FILE...
  module Repeat
    # Tests that wait for another process or thread have one of these words.
    WAITING = /\bfork\b|\bspawn\b|\bpopen\w*|\bOpen3\b|\bin_child\b|\brun_ruby\b|\beventually\b|\bThread\.new\b|\bwait/

    NUMBER = /, run \d+ of \d+\z/
    private_constant :NUMBER

    module_function

    # @param jobs [Array<House::Job>]
    # @param times [Integer]
    # @return [Array<House::Job>] each of them `times` times, but for builds
    def jobs(jobs, times)
      jobs.flat_map do |job|
        next job if job.kind == :build

        (1..times).map { |number| job.named("#{job.name}, run #{number} of #{times}") }
      end
    end

    # @param root [String] a checkout
    # @return [Array<String>] Ruby test files that wait for other processes or threads
    def waiting_files(root = ROOT)
      Dir.glob(["test/**/*_test.rb", "lab/test/**/*_test.rb"], base: root).sort.select do |file|
        File.read(File.join(root, file), encoding: "UTF-8").match?(WAITING)
      end
    end

    # @param results [Array<House::Job::Result>] of repeated jobs
    # @return [Array<String>] a line for each job that failed at least once, the most frequent first
    def failures(results)
      runs = results.group_by { |result| result.job.name.sub(NUMBER, "") }
      failed = runs.transform_values { |group| group.count(&:failed?) }.select { |_, count| count.positive? }
      failed.sort_by { |name, count| [-count, name] }.map { |name, count| "#{count} of #{runs[name].size}  #{name}" }
    end
  end
end
