# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require_relative "../../rakelib/house/environment"

# Runs bin/soak for some seconds: it holds, and it fails where something breaks a rule on purpose.
class SoakTest < ActiveSupport::TestCase
  PROGRAM = File.join(House::ROOT, "bin/soak")
  SHORT = %w[--minutes 0.05 --no-judge-times --workers 1 --size 4194304 --seed 7].freeze

  setup { @directory = Dir.mktmpdir("larder-soak") }
  teardown { FileUtils.rm_rf(@directory) }

  slow_test "a soak of a sound cache holds, counts, and leaves no process and no file" do
    output, status = soak("--counts")
    assert_predicate status, :success?, output
    assert_match(/^@ [1-9]\d* values found, each held against the ledger$/, output)
    assert_match(/^@ 0 things that were wrong$/, output)
    assert_empty left_processes
    assert_empty Dir.children(File.join(@directory)) - ["fresh"]
  end

  slow_test "a value whose bytes are wrong fails the soak" do
    assert_fails "value", /is no value of this key|are no value of this key/
  end

  slow_test "a value that comes back fails the soak" do
    assert_fails "resurrected", /is older than the acknowledged/
  end

  slow_test "a process that crashes fails the soak" do
    assert_fails "crash", /ended by itself: SIG(ABRT|SEGV)/
  end

  slow_test "a damaged file fails the soak, for verify runs all the time" do
    assert_fails "file", /verify: \d+ problems|outlived|no value of this key|problems/
  end

  slow_test "a file left beside the cache fails the soak" do
    assert_fails "orphan", /orphan files: soak\.larder\.1/
  end

  slow_test "interrupted, it reports and leaves no process" do
    Open3.popen2e(environment, PROGRAM, *SHORT, "--minutes", "5", "--directory", @directory) do |_, output, thread|
      await_processes(output)
      Process.kill(:INT, thread.pid)
      text = output.read
      assert_match(/ended early/, text)
      assert_predicate thread.value, :success?, text
    end
    assert_empty left_processes
  end

  slow_test "killed, it leaves no process" do
    Open3.popen2e(environment, PROGRAM, *SHORT, "--minutes", "5", "--directory", @directory) do |_, output, thread|
      await_processes(output)
      Process.kill(:KILL, thread.pid)
      thread.join
      assert(eventually { left_processes.empty? })
    end
  end

  test "help says what it does and what it needs" do
    output, status = Open3.capture2e(environment, PROGRAM, "--help")
    assert_predicate status, :success?
    assert_match(/ledger/, output)
    assert_match(/--minutes N/, output)
  end

  test "what it does not know it refuses" do
    output, status = Open3.capture2e(environment, PROGRAM, "--minutes", "0")
    assert_not_predicate status, :success?
    assert_match(/at least 0\.05/, output)
  end

  private

  def await_processes(output)
    assert output.each_line.any? { |line| line.include?("starts the processes") }
    sleep 3 # they work
  end

  def environment(fault = nil)
    House::Environment.variables.merge("LARDER_SOAK" => nil, "LARDER_SOAK_FAULT" => fault)
  end

  def soak(*more, fault: nil)
    Open3.capture2e(environment(fault), "timeout", "-s", "KILL", "240", PROGRAM, *SHORT, "--directory", @directory,
*more)
  end

  def assert_fails(fault, pattern)
    output, status = soak(fault: fault)
    assert_equal 1, status.exitstatus, output
    assert_match(/FAILED: .*#{pattern}/, output)
    assert_match(/The soak FAILS/, output)
    assert_empty left_processes
  end

  # Whoever has a file of this soak open or mapped.
  def left_processes
    Dir.glob("/proc/[0-9]*").reject { |path| path == "/proc/#{Process.pid}" }.select do |path|
      File.read("#{path}/maps").include?(@directory)
    rescue SystemCallError
      false
    end
  end
end
