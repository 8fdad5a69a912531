# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "tmpdir"
require "support/report_schema"

# Runs the real executable in processes of their own, and looks for what they leave behind.
module LabHelper
  EXECUTABLE = File.expand_path("../../exe/larder-lab", __dir__)
  FIXTURES = File.expand_path("../fixtures", __dir__)

  Outcome = Struct.new(:out, :err, :status, keyword_init: true)

  # Runs `larder-lab stores` in one session of one pass with short turns, unless the arguments say otherwise.
  def small_run(*arguments, env: {})
    lab("stores", "--sessions", "1", "--passes", "1", "--turn-ms", "1", "--seed", "1", *arguments, env: env)
  end

  def lab(*arguments, env: {})
    out, err, status = Open3.capture3({ "COLUMNS" => nil, **env }, RbConfig.ruby, "-w", EXECUTABLE, *arguments)
    assert_shape(arguments)
    Outcome.new(out: out, err: err, status: status.exitstatus)
  end

  # Every report that a test has written must have the published shape.
  def assert_shape(arguments)
    file = arguments.include?("--json") && arguments[arguments.index("--json") + 1]
    assert_empty ReportSchema.errors(JSON.parse(File.read(file))) if file && File.exist?(file)
  end

  # Yields a directory that no other run uses.
  def with_directory = Dir.mktmpdir("larder-lab-test-") { |dir| yield File.realpath(dir) }

  def fixture(name)
    File.join(FIXTURES, "#{name}.rb")
  end

  # Pids of processes, other than this one, that were told of a directory or work in it.
  def processes(dir)
    Dir.glob("/proc/[0-9]*").filter_map do |process|
      pid = File.basename(process).to_i
      traces = [File.binread("#{process}/cmdline").tr("\0", " "), File.readlink("#{process}/cwd")]
      pid if pid != Process.pid && traces.any? { |trace| trace.include?(dir) }
    rescue SystemCallError
      nil # it has ended
    end
  end

  # Waits until the block answers something, and answers that. After that time the test fails, with the answer of the
  # lambda.
  def eventually(found = nil, seconds: 120)
    limit = now + seconds
    until (answer = yield)
      flunk "waited #{seconds} s in vain: #{found&.call}" if now > limit
      sleep 0.02
    end
    answer
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

ActiveSupport.on_load(:active_support_test_case) { include LabHelper }
