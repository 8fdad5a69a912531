# frozen_string_literal: true

# Finds how much memory this process may use: the least of the machine's and of its control groups', version 1 or 2.
# Only on Linux. engine/src/file/memory_limit.c reads the same files before it makes a file in memory, but asks which
# group has the least memory left.

module Larder
  # Pages of the cache that are in memory count as the group's that touched them first, so a group whose limit is below
  # the file's size reads the file from disk again and again.
  #
  # @api private
  class MemoryLimit
    # Above any machine's memory: version 1 writes such a number where there is no limit. The engine has the same.
    UNLIMITED = 1 << 60
    # Where a group of each version tells its limit.
    FILES = { 1 => "memory.limit_in_bytes", 2 => "memory.max" }.freeze
    private_constant :UNLIMITED, :FILES

    # @return [Integer, nil] bytes; nil: not known
    def self.bytes
      new.bytes
    end

    # @param root [String] of the file system
    def initialize(root = "/")
      @root = root
    end

    # @return [Integer, nil] bytes; nil: not known
    def bytes
      [machine, *groups].compact.min
    end

    private

    def machine
      kibibytes = read("proc/meminfo")&.[](/^MemTotal: +(\d+) kB/, 1)
      kibibytes && (kibibytes.to_i << 10)
    end

    def groups
      (read("proc/self/cgroup") || "").lines(chomp: true).flat_map do |line|
        id, controllers, group = line.split(":", 3)
        next limits(2, group) if id == "0"

        controllers.split(",").include?("memory") ? limits(1, group) : []
      end
    end

    # Of the group and of all above it. In a container the group's name may be the host's, and its own is the mount.
    def limits(version, group)
      mounts(version).flat_map do |mount|
        parts = group.split("/").reject(&:empty?)
        (0..parts.size).filter_map { |count| limit(File.join(mount, *parts.first(count), FILES.fetch(version))) }
      end
    end

    def limit(file)
      number = read(file).to_s[/\A\d+$/]&.to_i
      number if number && number < UNLIMITED
    end

    # mountinfo(5): the mount point is the fifth word; the type and the options of the file system stand behind " - ".
    def mounts(version)
      (read("proc/self/mountinfo") || "").lines(chomp: true).filter_map do |line|
        place, system = line.split(" - ", 2).map(&:split)
        wanted = version == 2 ? system.first == "cgroup2" : system.first == "cgroup" && system.last.match?(/\bmemory\b/)
        place[4].gsub(/\\([0-7]{3})/) { $1.oct.chr } if wanted
      end
    end

    # The name of a mount may have any bytes.
    def read(file)
      File.binread(File.join(@root, file))
    rescue SystemCallError
      nil
    end
  end
end
