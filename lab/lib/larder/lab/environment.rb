# frozen_string_literal: true

require "etc"
require "open3"
require_relative "yjit"

module Larder
  module Lab
    # Facts about this machine that figures depend on. What the system does not tell is nil, never a guess.
    # @api private
    module Environment
      LOOK = 0.5

      module_function

      # @param directory [String] where the stores keep their files
      def facts(directory)
        {
          ruby: RUBY_DESCRIPTION,
          yjit: Yjit.on? ? "on" : "off",
          kernel: Etc.uname.values_at(:sysname, :release, :machine).join(" "),
          cpu: cpu,
          cores: Etc.nprocessors,
          governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")[/\w+/],
          memory_bytes: memory_bytes,
          file_system: file_system(directory),
          busy_processors: busy_processors,
          time: Time.now.utc.strftime("%Y-%m-%dT%H:%M:%SZ")
        }
      end

      # Unlike the load average it does not count what the lab itself has done a minute ago.
      #
      # @return [Float, nil] processors that other work keeps busy, on this machine or its host, over {LOOK} seconds
      def busy_processors
        before = ticks or return
        sleep LOOK
        idle, all = before.zip(ticks).map { |one, other| other - one }
        (Etc.nprocessors * (1 - idle.fdiv(all))).round(2) if all.positive?
      end

      # Time that processors were idle, and all of it, since the machine began.
      def ticks
        times = text("/proc/stat")[/^cpu (.*)/, 1]&.split&.first(8)&.map(&:to_i)
        [times[3] + times[4], times.sum] if times
      end

      def cpu
        text("/proc/cpuinfo")[/^(?:model name|Model)[^:\n]*:\s*(.*\S)/, 1] || output("machdep.cpu.brand_string")
      end

      def memory_bytes
        kilobytes = text("/proc/meminfo")[/^MemTotal:\s+(\d+)/, 1]
        kilobytes ? kilobytes.to_i * 1024 : output("hw.memsize")&.to_i
      end

      # The type of the mount that holds the directory.
      # @return [String, nil] "ext4", "tmpfs"
      def file_system(directory)
        place = File.realpath(directory).b
        mounts = text("/proc/mounts").lines.map { |line| line.split.values_at(1, 2) }
        mounts.select { |point, _| inside?(place, point) }.max_by { |point, _| point.size }&.last
      rescue SystemCallError
        nil
      end

      def inside?(directory, point) = point == "/" || directory == point || directory.start_with?("#{point}/")

      # A file of the system; "" where it has none.
      def text(path)
        File.binread(path)
      rescue SystemCallError
        ""
      end

      # A fact of macOS.
      def output(name)
        said, status = Open3.capture2e("sysctl", "-n", name)
        said[/\S.*/] if status.success?
      rescue SystemCallError
        nil
      end

      private_class_method :ticks, :cpu, :inside?, :output
    end
  end
end
