# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../proof/support/program"
require_relative "../../proof/support/report"

module Proof
  class ProgramTest < ActiveSupport::TestCase
    include Processes

    setup do
      @directory = Dir.mktmpdir("larder-proof")
      @report = Report.new("test", "Programs are read")
    end

    teardown { FileUtils.rm_rf(@directory) }

    test "lines that begin with @ are counts, shares and notes" do
      assert run_shell("echo '@ 12 children killed'; echo noise; echo '@ 96.25 % lines'; echo '@note no dm here'")
      assert_equal [["children killed", 12, ""], ["lines", 96.25, "%"]], @report.counts.map(&:to_a)
      assert_equal ["no dm here"], @report.notes
    end

    test "the whole output is kept" do
      run_shell("echo one; echo two >&2")
      assert_equal "one\ntwo\n", File.read(log)
    end

    test "a program that fails fails the report, which shows its last lines" do
      assert_not run_shell("echo 'the old value came back'; exit 3")
      assert_match(/exit status 3/, @report.failures.first)
      assert_match(/the old value came back/, @report.failures.first)
    end

    test "a program killed by a signal says which" do
      assert_not run_shell("kill -9 $$")
      assert_match(/killed by signal 9/, @report.failures.first)
    end

    test "a program that does not end is killed together with its children" do
      assert_not run_shell("sleep 300 & echo $!; wait", quiet: 0.5)
      assert_match(/hangs: no output and no work/, @report.failures.first)
      child = Integer(File.read(log))
      assert(eventually { !alive?(child) })
    end

    private

    def log
      File.join(@directory, "log")
    end

    def run_shell(script, **options)
      Program.new(["sh", "-c", script], dir: @directory, log: log, **options).run(@report)
    end

    # A zombie that nobody has waited for is dead, too.
    def alive?(pid)
      File.read("/proc/#{pid}/stat")[/\) (\w)/, 1] != "Z"
    rescue Errno::ENOENT, Errno::ESRCH
      false
    end
  end
end
