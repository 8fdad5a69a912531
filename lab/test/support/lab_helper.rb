# frozen_string_literal: true

require "fileutils"
require "json"
require "json_schemer"
require "open3"
require "rbconfig"
require "socket"
require "stringio"
require "tmpdir"

# The published shape of a report, and whether one has it.
module ReportSchema
  FILE = File.expand_path("../../schema/larder-lab-1.json", __dir__)

  # The faults of a document that was read from JSON.
  def self.errors(document)
    @schema ||= JSONSchemer.schema(JSON.parse(File.read(FILE)))
    @schema.validate(document).map { |error| error.fetch("error") }.first(5)
  end
end

# Runs the real executable in processes of their own, and looks for what they leave behind.
module LabHelper
  EXECUTABLE = File.expand_path("../../exe/larder-lab", __dir__)
  FIXTURES = File.expand_path("../fixtures", __dir__)

  # `words` is the output with single spaces.
  Outcome = Struct.new(:out, :err, :status, keyword_init: true) do
    def words = out.gsub(/\s+/, " ")
  end

  # Options of a run with little to do.
  SHORT = %w[--sessions 1 --passes 1 --turn-ms 1 --seed 1].freeze

  # Runs `larder-lab stores` in one session of one pass with short turns, unless the arguments say otherwise.
  def small_run(*arguments, env: {}) = lab("stores", *SHORT, *arguments, env: env)

  def lab(*arguments, env: {})
    out, err, status = Open3.capture3({ "COLUMNS" => nil, **env }, RbConfig.ruby, "-w", EXECUTABLE, *arguments)
    assert_shape(arguments)
    Outcome.new(out: out, err: err, status: status.exitstatus)
  end

  # Runs it in this process, which measures nothing.
  def here(*arguments)
    out, err = Array.new(2) { StringIO.new }
    status = Larder::Lab.run(arguments, out: out, err: err)
    Outcome.new(out: out.string, err: err.string, status: status)
  end

  # @return [Larder::Lab::Commands::Command] with these options, which has not run
  def options_of(name, *arguments)
    silent = Larder::CLI::Terminal.new(StringIO.new)
    Larder::Lab::Commands.fetch(name).new(silent, silent).parse(arguments)
  end

  # Answers the first chapter of the report, what was printed, and the report; no process and no other file is left.
  def measured(*arguments)
    with_directory do |dir|
      File.chmod(0o711, dir) # PostgreSQL runs as another user
      file = File.join(dir, "run.json")
      outcome = lab(*arguments, "--json", file, env: { "COLUMNS" => "200", "TMPDIR" => dir })
      assert_equal 0, outcome.status, outcome.err + outcome.out
      assert_equal ["run.json"], Dir.children(dir)
      assert_empty processes(dir)
      JSON.parse(File.read(file)).then { |report| [report["chapters"].first, outcome.out, report] }
    end
  end

  # @return [Hash] row => block => name => a figure of each process
  def figures(chapter) = chapter.dig("details", "recorded").transform_values { |facts| facts["figures"] }

  # @return [Array<String>] keys of what `compare` compares
  def measures(chapter) = chapter["measures"].map { |measure| measure["key"] }

  # @return [Array<Array(String, String)>] blocks and rows that took turns, and the reference loop
  def turns(chapter) = chapter.dig("details", "samples").map { |turn| turn.values_at("block", "row") }.uniq.sort

  # Every report that a test has written must have the published shape.
  def assert_shape(arguments)
    file = arguments.include?("--json") && arguments[arguments.index("--json") + 1]
    assert_empty ReportSchema.errors(JSON.parse(File.read(file))) if file && File.exist?(file)
  end

  # Skips the test where the program of a server of {Larder::Lab::Servers} is not installed.
  # @return [Class] the server
  def needs_server(name)
    type = Larder::Lab::Servers.fetch(name)
    type.path ? type : skip("#{type.binary} is not installed")
  end

  # Yields where a running server listens, as one of the user's.
  def with_server(name)
    type = needs_server(name)
    with_directory do |dir|
      server = type.new(dir)
      yield server.start.endpoint
    ensure
      server&.stop
    end
  end

  # @return [String] all that a server answers until it is silent
  def speak(endpoint, request)
    path, host, port = endpoint.values_at("socket", "host", "port")
    connection = path ? UNIXSocket.new(path) : TCPSocket.new(host, port)
    connection.write(request)
    answer = +""
    answer << connection.readpartial(65_536) while connection.wait_readable(answer.empty? ? 5 : 0.2)
    answer
  ensure
    connection&.close
  end

  # Yields a directory that no other run uses.
  def with_directory = Dir.mktmpdir("larder-lab-test-") { |dir| yield File.realpath(dir) }

  def fixture(name) = File.join(FIXTURES, "#{name}.rb")

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
