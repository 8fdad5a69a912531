# frozen_string_literal: true

require "test_helper"
require "support/house_jobs"
require_relative "../../rakelib/house/command"

module House
  # Failed jobs are run again, alone, and the summary lists them.
  class RetryFailedTest < ActiveSupport::TestCase
    include HouseJobs

    test "what passes alone has passed, and keeps what it printed before" do
      results = run_with_retry(job("echo '1 passed, 0 failed'", name: "fine"), job(passes_when_retried, name: "late"))
      late = results.find { |result| result.job.name == "late" }
      assert_equal Counts.new(2, 0, 0), results.map(&:counts).reduce(:+)
      assert_predicate late, :passed_retry?
      assert_match(/not ok: too late/, File.read(late.earlier.log))
      assert_match(/FAIL.*late.*Retrying what failed:.*ok.*late/m, @out.string)
    end

    test "the summary names what passed when retried, and how it had failed" do
      crash = "test -e #{@logs}/met && echo '1 passed, 0 failed' && exit; touch #{@logs}/met; kill -SEGV $$"
      results = run_with_retry(job(crash, name: "crash"))
      sum, = capture_io { Summary.new.print(results, 1) }
      assert_match(/^Failed, then passed when retried alone:\n  crash: .*signal SEGV.*crash\.first\.log$/, sum)
      assert_match(/^1 passed, 0 failed/, sum)
    end

    test "a run of other jobs retries them itself, and the summary names them" do
      inner = "Failed, then passed when retried alone:\n  late: exit 1; tmp/late.first.log\n\n3 passed, 0 failed\n"
      run = Job.new("stack", suite: "ruby", argv: ["printf", inner], retries: true)
      sum, = capture_io { Summary.new.print(run_with_retry(run), 1) }
      assert_match(/^stack, failed there, then passed when retried alone:\n  late: exit 1; tmp/, sum)

      broken = Job.new("stack", suite: "ruby", argv: ["sh", "-c", "echo '2 passed, 1 failed'; exit 1"], retries: true)
      assert_predicate run_with_retry(broken).first, :failed?
      assert_no_match(/Retrying/, @out.string)
    end

    test "the second stack retries what fails there" do
      plain, retrying = [false, true].map { |retries| Suites.jobs(["trixie"], retry_failed: retries).first }
      assert_not_includes plain.argv, "--retry-failed"
      assert_includes retrying.argv, "--retry-failed"
      assert_equal [false, true], [plain.retries, retrying.retries]
    end

    test "what was not run because another failed is not run again" do
      waiting = Job.new("waiting", suite: "ruby", argv: ["true"], after: ["wrong"])
      results = run_with_retry(job("exit 1", name: "wrong"), waiting)
      assert_match(/not run, because wrong failed/, results.find { |result| result.job == waiting }.note)
    end

    test "what fails again has failed" do
      result = run_with_retry(job("echo '0 passed, 1 failed'; exit 1", name: "wrong")).first
      assert_predicate result, :failed?
      assert_not_predicate result, :passed_retry?
    end

    test "what passed is not run again" do
      run_with_retry(job("echo run >> #{@logs}/times; echo '1 passed, 0 failed'", name: "fine"))
      assert_equal ["run\n"], File.readlines("#{@logs}/times")
    end

    test "nothing is retried where more than a few jobs failed" do
      jobs = Array.new(RetryFailed::MOST + 1) { |i| job("echo run >> #{@logs}/times; false", name: "wrong #{i}") }
      assert_equal jobs.size, run_with_retry(*jobs).count(&:failed?)
      assert_equal jobs.size, File.readlines("#{@logs}/times").size
    end

    test "a build that failed is not run again" do
      result = run_with_retry(Job.new("build", suite: "build", kind: :build, argv: ["sh", "-c", "exit 1"])).first
      assert_predicate result, :failed?
      assert_no_match(/Retrying/, @out.string)
    end

    private

    def passes_when_retried
      "test -e #{@logs}/met && echo '1 passed, 0 failed' && exit; touch #{@logs}/met
       echo '  not ok: too late'; echo '0 passed, 1 failed'; exit 1"
    end

    def run_with_retry(*jobs)
      RetryFailed.new(log_dir: @logs, out: @out).run(run_jobs(*jobs))
    end
  end
end
