# frozen_string_literal: true

require "test_helper"
require_relative "../../rakelib/house/process_tree"

module House
  # Processes as /proc has them.
  class ProcessTreeTest < ActiveSupport::TestCase
    include Processes

    LINE = "%d (%s) S 10 20 20 0 -1 4194304 1 2 3 4 100 200 300 400 20 0 1 0 98765 1000 200"

    test "a line has the parent, the group, the processor time and the start, whatever the name is" do
      ["ruby", "a) S 1 1 (b", "with\nline", "\xFF\xFE"].each do |name|
        member = ProcessTree.read(format(LINE.b, 12, name.b))
        assert_equal [12, 10, 20, 1000, 98_765], member.to_a, name.inspect
      end
    end

    test "a process that is ending or has ended is not there" do
      assert_nil ProcessTree.read("12 (sh) X 0 -1 -1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 0 0 98765 0 0")
      assert_nil ProcessTree.read("")
      assert_nil ProcessTree.member(Process.wait(fork { exit!(0) }))
    end

    test "a process has its children and theirs, also in groups of their own" do
      skip "there is no /proc" unless File.exist?("/proc/self/stat")
      reader, writer = IO.pipe
      top = Process.spawn("setsid sh -c 'echo $$; sleep 300 & echo $!; wait' & wait", out: writer, pgroup: true)
      pids = [top] + Array.new(2) { Integer(reader.gets) }
      tree = ProcessTree.new(top)
      assert_empty pids - tree.members.map(&:pid)
      assert_operator tree.cpu_seconds, :>=, 0
      known = tree.members
      tree.kill
      Process.wait(top)
      assert(eventually { known.none? { |member| running?(member) } })
    ensure
      [reader, writer].each(&:close)
    end

    private

    def running?(member)
      member.there? && File.read("/proc/#{member.pid}/stat")[/\) (\S)/, 1] != "Z"
    rescue Errno::ENOENT, Errno::ESRCH
      false
    end
  end
end
