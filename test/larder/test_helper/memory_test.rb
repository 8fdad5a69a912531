# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"
require "larder/test_helper"

# The directories of test processes.
class TestHelperMemoryTest < ActiveSupport::TestCase
  include TemporaryDirectory
  include Processes

  Memory = Larder::TestHelper::Memory

  test "a process has one directory, in memory, which only its user may enter" do
    skip "there is no /dev/shm here" unless File.writable?("/dev/shm")
    outcome = in_child do
      memory = Memory.current
      found = [memory.equal?(Memory.current), File.dirname(memory.directory), File.stat(memory.directory).mode & 0o777]
      memory.remove
      [*found, File.exist?(memory.directory)]
    end
    assert_equal [true, "/dev/shm", 0o700, false], outcome
  end

  test "a forked child has a directory of its own" do
    first, second = in_child do
      [Memory.current.directory, in_child { ended { Memory.current } }].tap { Memory.current.remove }
    end
    assert_not_equal first, second
  end

  test "the directory of a killed process is removed by the next one, and that of a live one stays" do
    reader, writer = IO.pipe
    pid = fork do
      writer.puts Memory.current.directory
      sleep
    end
    directory = reader.gets.chomp
    in_child { Memory.sweep(File.dirname(directory)) }
    assert File.exist?(directory)
    Process.kill(:KILL, pid)
    Process.wait(pid)
    assert File.exist?(directory)
    in_child { Memory.sweep(File.dirname(directory)) }
    assert_not File.exist?(directory)
  end

  test "a link, and a directory without a lock, stay" do
    Dir.mkdir(path_of("other"))
    File.write(path_of("other/alive"), "")
    File.symlink(path_of("other"), path_of("larder-tests-link"))
    Dir.mkdir(path_of("larder-tests-new"))
    Memory.sweep(directory)
    assert_equal %w[larder-tests-link larder-tests-new other], Dir.children(directory).sort
  end

  test "without room in memory the file is in the directory for temporary files" do
    in_temporary(directory) do
      found = in_child do
        asked = []
        cache = Memory.current.open do |path|
          asked << path
          raise Larder::OpenError, "the disk has no room" if asked.size == 1

          Larder::Cache.open(path, size: 1 << 20)
        end
        first, second = asked.map { |path| File.dirname(path) }
        [cache.path == asked.last, File.dirname(second) == Dir.tmpdir, File.exist?(first)].tap { Memory.current.remove }
      end
      assert_equal [true, true, false], found
    end
  end

  test "a file that can be opened nowhere is an error" do
    in_temporary(directory) do
      in_child do
        assert_raises(Larder::OpenError) { Memory.current.open { raise Larder::OpenError, "nowhere" } }
        Memory.current.remove
      end
    end
    assert_empty Dir.children(directory)
  end

  private

  def ended
    memory = yield
    memory.remove
    memory.directory
  end

  def in_temporary(place)
    before = ENV.fetch("TMPDIR", nil)
    ENV["TMPDIR"] = place
    yield
  ensure
    ENV["TMPDIR"] = before
  end
end
