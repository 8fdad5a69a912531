# frozen_string_literal: true

# What every test needs: the library, ActiveSupport::TestCase, files that go away, and processes that end.

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))

require "active_support"
require "active_support/test_case"
require "fileutils"
require "minitest/autorun"
require "open3"
require "rbconfig"
require "tmpdir"

require "larder"
require "support/slow_test"
require "support/collector" if ENV.key?("LARDER_GC")

# A shell has what it runs in the background ignore interrupts, and nohup has it ignore hangups. Both would be passed on
# to every process under test.
["INT", "HUP"].each { |signal| trap(signal, "DEFAULT") }

# A private directory for each test, made before it (so that its children have the same) and removed after it.
module TemporaryDirectory
  attr_reader :directory

  def before_setup
    @directory = File.realpath(Dir.mktmpdir("larder-test-"))
    super
  end

  # @return [String] a path in the directory, whose file is not made
  def path_of(name = "test.larder")
    File.join(directory, name)
  end

  def after_teardown
    super
  ensure
    FileUtils.rm_rf(@directory)
  end
end

# Caches that are closed after the test.
module TemporaryCaches
  include TemporaryDirectory

  SIZE = 8 << 20

  def open_cache(name = "test.larder", size: SIZE, **options)
    cache = Larder::Cache.open(path_of(name), size: size, **options)
    (@caches ||= []) << cache
    cache
  end

  # @return [Larder::Cache] the one of the test
  def cache
    @cache ||= open_cache
  end

  def after_teardown
    @caches&.each(&:close)
    Larder::Sessions.use(nil) if defined?(Larder::Sessions.use)
  ensure
    super
  end
end

# Children that report, and that no test waits for without end.
module Processes
  LONGEST = 120 # only a test that fails waits that long

  # Forks, runs the block, and answers its value. The child leaves by exit!, so no test runs in it a second time.
  def in_child(&block)
    child_with(&block).call
  end

  # As in_child, without waiting, so that several children work at the same time.
  #
  # @return [Proc] answers the block's value, once
  def child_with(&block)
    reader, writer = IO.pipe(binmode: true) # Rails sets an encoding
    pid = fork do
      reader.close
      writer.write(outcome_of(&block))
      writer.close
    ensure
      exit!
    end
    writer.close
    -> { value_of(reader, pid) }
  end

  # For a script under GC.stress: without RubyGems and Bundler a collection marks a fifth of the objects.
  BARE_RUBY = { options: ["--disable-gems"], env: { "RUBYOPT" => nil } }.freeze

  # Runs a script in a Ruby of its own, with the library and `arguments`, and answers what it printed.
  def run_ruby(script, *arguments, options: [], env: {})
    output, status = Open3.capture2e(env, RbConfig.ruby, "-I#{File.expand_path("../lib", __dir__)}", *options,
                                     "-rlarder", "-e", script, *arguments)
    assert_predicate status, :success?, output
    output
  end

  # Waits for an event that another process or thread brings about.
  #
  # @return [Object, nil] the block's first value that is true; nil: it had none in time
  def eventually(within: LONGEST)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + within
    loop do
      value = yield and return value
      return if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      Kernel.sleep(0.01)
    end
  end

  # @return [Process::Status] of a child that has ended by then, and fails where it has not
  def wait_for(pid, within: LONGEST)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + within
    until (ended = Process.wait2(pid, Process::WNOHANG))
      if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
        Process.kill(:KILL, pid)
        Process.wait(pid)
        flunk("child #{pid} had not ended after #{within} seconds")
      end
      sleep(0.005)
    end
    ended.last
  end

  # Ends a server, by force if need be: Puma's threads may wait for each other when it ends (puma/puma#3677).
  def end_server(pid, within: 10)
    Process.kill(:TERM, pid)
    Process.kill(:KILL, pid) unless eventually(within: within) { ended?(pid) }
    Process.wait(pid)
  end

  # An orphan is reaped by another process some time after its end; until then it is a zombie.
  def ended?(pid)
    File.read("/proc/#{pid}/stat").split(")").last.strip.start_with?("Z")
  rescue Errno::ENOENT, Errno::ESRCH
    true
  end

  private

  def outcome_of
    Marshal.dump([:returned, yield])
  rescue Exception => e # rubocop:disable Lint/RescueException -- whatever ends the child is the test's to report
    Marshal.dump([:raised, e.full_message(highlight: false)])
  end

  def value_of(reader, pid)
    bytes = reader.wait_readable(LONGEST) ? reader.read : ""
    reader.close
    status = wait_for(pid, within: LONGEST)
    flunk("child ended with #{status.inspect}, saying nothing") if bytes.empty?
    kind, value = Marshal.load(bytes)
    flunk("child raised #{value}") if kind == :raised
    value
  end
end
