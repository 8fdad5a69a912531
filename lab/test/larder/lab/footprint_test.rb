# frozen_string_literal: true

require "test_helper"
require "larder/lab/footprint"

module Larder
  module Lab
    class FootprintTest < ActiveSupport::TestCase
      test "files grow by their blocks, on disks and in memory apart" do
        with_directory do |dir|
          before = Footprint.take(dirs: [dir])
          File.binwrite(File.join(dir, "file"), "x" * 1_000_000)
          growth = Footprint.take(pid: 2**22 + 1, dirs: [dir, dir, "#{dir}/gone"]) - before
          assert_in_delta 1_000_000, growth.disk + growth.tmpfs, 10_000
          assert_equal 0, growth.server
        end
      end

      test "memory that this process holds is its own, and given back it is not" do
        before = Footprint.take
        held = Array.new(20) { Random.bytes(1_000_000) }
        assert_in_delta 20_000_000, (Footprint.take - before).own, 6_000_000
        assert_equal 20, held.size
        held.clear
        assert_operator (Footprint.take - before).own, :<, 10_000_000
      end

      test "the memory of a process is with that of a child, and none where the process is gone" do
        alone = Footprint.memory("self") or skip "there is no /proc/self/smaps_rollup here"
        child = IO.popen([RbConfig.ruby, "-e", "x = 'x' * 40_000_000; $stdout.syswrite(\"\\n\"); gets; x.size"], "r+")
        child.gets
        assert_operator Footprint.memory(Process.pid) - alone, :>, 32_000_000
        pid = child.pid
        child.close
        assert_equal [nil, nil], [pid, nil].map { |gone| Footprint.memory(gone) }
      end
    end
  end
end
