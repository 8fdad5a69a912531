# frozen_string_literal: true

require "test_helper"
require "support/house_jobs"

module House
  # bin/test's runner, with small programs that pass, fail, hang, or report wrongly.
  class RunnerTest < ActiveSupport::TestCase
    include HouseJobs

    test "counts of jobs are read from their output" do
      assert_equal Counts.new(2, 0, 1), run_job("echo '2 passed, 0 failed, 1 skipped'").counts
    end

    test "a job of one test passes by its status" do
      assert_equal Counts.new(1, 0, 0), run_job("true", kind: :one).counts
      assert_equal Counts.new(0, 1, 0), run_job("exit 3", kind: :one).counts
    end

    test "a job that prints no counts fails although its status is 0" do
      result = run_job("echo fine")
      assert_predicate result, :failed?
      assert_match(/printed no counts/, result.note)
    end

    test "a job that fails after counts without a failure has failed" do
      assert_equal Counts.new(2, 1, 0), run_job("echo '2 passed, 0 failed'; exit 1").counts
    end

    test "what failed is shown before all that went well" do
      run_job("seq 50; echo '  not ok: the sky is blue'; echo '1 passed, 1 failed'; exit 1")
      assert_match(/FAIL.*\n.*----.*\n  !   not ok: the sky is blue\n  \| 1\n/, @out.string)
    end

    test "a killed job tells the signal" do
      assert_match(/SEGV/, run_job("echo '2 passed, 0 failed'; kill -SEGV $$").note)
    end

    test "a runner that is interrupted stops all jobs that run" do
      pids = Array.new(2) { |i| File.join(@logs, "pid-#{i}") }
      jobs = pids.map.with_index { |file, i| job("echo $$ > #{file}; sleep 300", name: "job #{i}") }
      runner = Thread.new { run_jobs(*jobs) }
      runner.report_on_exception = false
      sleep 0.05 until pids.all? { |file| File.size?(file) }
      runner.raise(Interrupt)
      assert_raises(Interrupt) { runner.join }
      pids.each { |file| assert_raises(Errno::ESRCH) { Process.kill(0, Integer(File.read(file))) } }
    end

    test "a job that hangs is stopped with everything it started" do
      result = run_jobs(job("sleep 300 & echo $!; wait"), quiet: 0.2).first
      assert_match(/hangs: no output and no work for \d+ s; stopped after/, result.note)
      child = Integer(File.read(result.log)[/\d+/])
      assert(eventually { ended?(child) }, "process #{child} is still there")
    end

    test "a job that hangs is stopped with programs in groups of their own" do
      result = run_jobs(job("setsid sh -c 'echo $$; exec sleep 300' & wait"), quiet: 0.5).first
      assert_match(/hangs/, result.note)
      child = Integer(File.read(result.log)[/\d+/])
      assert(eventually { ended?(child) }, "process #{child} is still there")
    end

    # Longer than two quiet times. One is long enough for a share of a processor on a busy machine.
    COMPUTING = "ends = Time.now + 5; nil while Time.now < ends"

    test "a job whose child computes without output is not stopped, also where the child leads a group of its own" do
      job = job("setsid -w ruby --disable-gems -e '#{COMPUTING}'; true", kind: :one)
      assert_equal Counts.new(1, 0, 0), run_jobs(job, quiet: 2).first.counts, @out.string
    end

    test "a job that computes without end is stopped at its limit" do
      result = run_jobs(job("while true; do true; done", cpu_limit: 0.3), quiet: 2).first
      assert_match(/computes without end: \d+ s of processor time; stopped after/, result.note)
    end

    test "a long job's last line is shown meanwhile, also where it has printed nothing" do
      jobs = [job("sleep 0.6; echo '1 passed, 0 failed'", name: "silent"),
              job("echo halfway; sleep 0.6; echo '1 passed, 0 failed'", name: "talking")]
      results = Runner.new(jobs, lanes: 2, log_dir: @logs, out: @out, heartbeat: 0.1).run
      assert(results.none?(&:failed?), @out.string)
      assert_match(/\.\.\. +silent/, @out.string)
      assert_match(/\.\.\. +talking .* halfway/, @out.string)
    end

    test "a job's processor time is that of all its processes" do
      result = run_job("sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; echo '1 passed, 0 failed'")
      assert_operator result.cpu_seconds, :>, 0
      assert_match(/CPU +\d+\.\d s  1 passed/, @out.string)
      assert_operator run_job("sleep 0.2; echo '1 passed, 0 failed'").cpu_seconds, :<, result.cpu_seconds
    end

    test "a job that cannot be started fails with the reason" do
      job = Job.new("absent", suite: "ruby", argv: ["/nonexistent/program"])
      assert_match(/could not be started/, run_jobs(job).first.note)
    end

    test "a job that cannot run here is skipped with the reason" do
      result = run_job("true", missing: "redis-server is not installed")
      assert_predicate result, :skipped?
      assert_equal Counts.new(0, 0, 1), result.counts
      assert_match(/redis-server is not installed/, @out.string)
    end

    test "a job waits for its prerequisite, and is not run when that failed" do
      first = Job.new("first", suite: "build", kind: :build, argv: ["sh", "-c", "exit 1"])
      second = job("true", name: "second", after: ["first"], kind: :one)
      results = run_jobs(second, first)
      assert_equal ["first", "second"], results.map { |result| result.job.name }
      assert_match(/not run, because first failed/, results.last.note)
      assert_predicate results.last, :failed?
    end

    test "the output of a failed job is shown, that of a passed one is not" do
      run_jobs(job("echo good; true", name: "a", kind: :one), job("echo bad; false", name: "b", kind: :one))
      assert_match(/\| bad/, @out.string)
      assert_no_match(/\| good/, @out.string)
    end

    test "failures of a job that may fail are reported and count as skipped" do
      result = run_job("echo '2 passed, 3 failed, 1 skipped'; exit 1", may_fail: true)
      assert_equal Counts.new(2, 0, 4), result.counts
      assert_equal "3 failed, but allowed to: exit status 1", result.note
      assert_equal [false, true], [result.failed?, result.allowed_failure?]
      assert_equal Counts.new(2, 0, 0), run_job("echo '2 passed, 0 failed'", may_fail: true).counts
    end

    test "an unknown kind of job is refused" do
      assert_match(/known: one, counted, build/, assert_raises(ArgumentError) { job("true", kind: :other) }.message)
    end

    private

    def run_job(script, **options)
      run_jobs(job(script, **options)).first
    end
  end
end
