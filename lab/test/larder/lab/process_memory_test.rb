# frozen_string_literal: true

require "test_helper"
require "larder/lab/process_memory"

module Larder
  module Lab
    class ProcessMemoryTest < ActiveSupport::TestCase
      # Bytes that a child fills.
      FILLED = 40 * 1024 * 1024

      setup { skip "there is no /proc here" unless File.exist?("/proc/self/smaps_rollup") }

      test "this process is found by its number and as self" do
        assert_in_delta ProcessMemory.resident(Process.pid), ProcessMemory.resident("self"), 8 << 20
        assert_operator ProcessMemory.resident("self"), :>, 10 << 20
      end

      test "a tree counts what a child fills" do
        alone = ProcessMemory.tree(Process.pid)
        with_child { assert_operator ProcessMemory.tree(Process.pid) - alone, :>, FILLED * 0.8 }
      end

      test "of a process that is gone, and of none, nothing is known" do
        pid = fork { exit!(0) }
        Process.wait(pid)
        [pid, nil].each { |gone| assert_equal [nil, nil], [ProcessMemory.resident(gone), ProcessMemory.tree(gone)] }
      end

      private

      def with_child
        reader, writer = IO.pipe
        pid = fork do
          filled = "x" * FILLED
          writer.write("!")
          sleep
          filled.clear
        end
        reader.read(1)
        yield
      ensure
        Process.kill(:KILL, pid)
        Process.wait(pid)
      end
    end
  end
end
