# frozen_string_literal: true

require "test_helper"
require "larder/bytes/memory_limit"

module Larder
  class MemoryLimitTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes

    MEMORY = "MemTotal:        8000000 kB\nMemFree: 1 kB\n"

    # A system whose files are these.
    def limit_of(files)
      { "proc/meminfo" => MEMORY, **files }.each do |name, text|
        FileUtils.mkdir_p(File.dirname(path_of(name)))
        File.write(path_of(name), text)
      end
      MemoryLimit.new(directory).bytes
    end

    V2 = "30 29 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    V1 = "36 30 0:30 / /sys/fs/cgroup/memory rw shared:15 - cgroup cgroup rw,memory\n" \
         "37 30 0:31 / /sys/fs/cgroup/pids rw shared:16 - cgroup cgroup rw,pids\n"

    test "without control groups it is the machine's memory" do
      assert_equal 8_000_000 << 10, limit_of({})
      assert_nil MemoryLimit.new(path_of("nowhere")).bytes
    end

    test "of version 2 it is the least of the group and of those above it" do
      tree = { "proc/self/cgroup" => "0::/app.slice/puma.service\n", "proc/self/mountinfo" => V2 }
      group = "sys/fs/cgroup/app.slice"
      assert_equal 8_000_000 << 10, limit_of({ **tree, "#{group}/puma.service/memory.max" => "max\n" })
      assert_equal 512 << 20, limit_of({ "#{group}/memory.max" => "#{512 << 20}\n" })
      assert_equal 256 << 20, limit_of({ "#{group}/puma.service/memory.max" => "#{256 << 20}\n" })
    end

    test "mounts may have names of any bytes" do
      odd = "40 29 8:1 /home/sch\xFFn /media/sch\xFFn rw - ext4 /dev/sda1 rw\n"
      tree = { "proc/self/cgroup" => "0::/puma\n", "proc/self/mountinfo" => odd + V2 }
      assert_equal 256 << 20, limit_of({ **tree, "sys/fs/cgroup/puma/memory.max" => "#{256 << 20}\n" })
    end

    test "of version 1 it is the memory controller's, where it has one" do
      tree = { "proc/self/cgroup" => "8:pids:/x\n4:memory:/docker/abc\n0::/\n", "proc/self/mountinfo" => V1 }
      limit = "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes"
      assert_equal 8_000_000 << 10, limit_of({ **tree, limit => "9223372036854771712\n" })
      assert_equal 128 << 20, limit_of({ limit => "#{128 << 20}\n" })
    end

    test "the engine reads the same files, and takes the same numbers for no limit" do
      source = File.read(File.expand_path("../../../engine/src/file/memory_limit.c", __dir__), encoding: "UTF-8")
      assert_equal MemoryLimit.const_get(:UNLIMITED), 1 << Integer(source[/#define UNLIMITED \(1ull << (\d+)\)/, 1])
      files = MemoryLimit.const_get(:FILES)
      assert_includes source, %("#{files[1]}" : "#{files[2]}")
    end

    test "in a container the group is the mount itself, whatever its name on the host" do
      tree = { "proc/self/cgroup" => "4:memory:/docker/abc\n", "proc/self/mountinfo" => V1 }
      assert_equal 64 << 20, limit_of({ **tree, "sys/fs/cgroup/memory/memory.limit_in_bytes" => "#{64 << 20}\n" })
    end

    test "of this machine it is known, and what a real group is given" do
      skip "Linux has control groups" unless File.exist?("/proc/self/cgroup")
      assert_operator MemoryLimit.bytes, :>, 1 << 20
      parent = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].find { |path| File.exist?("#{path}/cgroup.procs") }
      skip "only root makes groups" unless Process.uid.zero? && parent && File.writable?(parent)
      group = "#{parent}/larder-test-#{Process.pid}"
      Dir.mkdir(group)
      file = %w[memory.max memory.limit_in_bytes].find { |name| File.exist?("#{group}/#{name}") }
      skip "groups of here have no memory controller" unless file
      File.write("#{group}/#{file}", (96 << 20).to_s)
      assert_equal(96 << 20, in_child do
        File.write("#{group}/cgroup.procs", Process.pid.to_s)
        MemoryLimit.bytes
      end)
    ensure
      Dir.rmdir(group) if group && Dir.exist?(group)
    end
  end
end
