# frozen_string_literal: true

require "test_helper"
require "support/house_jobs"
require_relative "../../rakelib/house/busy_loops"
require_relative "../../rakelib/house/process_tree"
require_relative "../../rakelib/house/repeat"

module House
  # bin/test --repeat and --busy: what finds tests that fail now and then.
  class RepeatTest < ActiveSupport::TestCase
    include HouseJobs

    test "each job is run as often as it is asked for, after one build, and failures are counted by job" do
      build = Job.new("build", suite: "build", kind: :build, argv: ["true"])
      each_second = "n=$(cat #{@logs}/n 2>/dev/null || echo 0); echo $((n+1)) > #{@logs}/n; [ $((n % 2)) = 0 ]"
      jobs = Repeat.jobs([build, job(each_second, name: "now and then", kind: :one, after: ["build"]),
                          job("true", name: "fine", kind: :one)], 4)
      assert_equal 9, jobs.size
      results = Runner.new(jobs, lanes: 1, log_dir: @logs, out: @out).run
      assert_equal 9, results.size
      assert_equal 8, Dir.glob("#{@logs}/*_run_*.log").size
      assert_equal ["2 of 4  now and then"], Repeat.failures(results)
    end

    test "test files that wait for processes are found by what they call" do
      files = Repeat.waiting_files
      assert_includes files, "test/larder/bytes/cache/fork_test.rb"
      assert_includes files, "lab/test/larder/lab/cleanup_test.rb"
      assert_not_includes files, "test/house/prose_test.rb"
    end

    test "busy loops compute during the block, and end after it" do
      running = BusyLoops.during(2) do |pids|
        assert(pids.all? { |pid| eventually { ProcessTree.member(pid).ticks > 20 } })
        pids
      end
      assert_equal 2, running.size
      running.each { |pid| assert_raises(Errno::ESRCH) { Process.kill(0, pid) } }
    end

    test "busy loops end with the process that started them, however that ends" do
      starter = fork do
        BusyLoops.during(1) do |pids|
          File.write("#{@logs}/pid", pids.first)
          File.rename("#{@logs}/pid", "#{@logs}/loop")
          sleep
        end
      end
      assert(eventually { File.exist?("#{@logs}/loop") })
      loop_pid = Integer(File.read("#{@logs}/loop"))
      Process.kill(:KILL, starter)
      Process.wait(starter)
      assert(eventually { ended?(loop_pid) })
    end
  end
end
