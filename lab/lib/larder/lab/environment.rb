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
          governor: first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
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
        times = first_line("/proc/stat")&.scan(/\d+/)&.first(8)&.map(&:to_i)
        [times[3] + times[4], times.sum] if times
      end

      def cpu
        line = File.foreach("/proc/cpuinfo", encoding: "BINARY").find { |text| text.start_with?("model name", "Model") }
        line&.split(":", 2)&.last&.strip
      rescue SystemCallError
        output("sysctl", "-n", "machdep.cpu.brand_string")
      end

      def memory_bytes
        kilobytes = File.read("/proc/meminfo")[/^MemTotal:\s+(\d+)/, 1]
        kilobytes && (kilobytes.to_i * 1024)
      rescue SystemCallError
        output("sysctl", "-n", "hw.memsize")&.to_i
      end

      # The type of the mount that holds the directory.
      # @return [String, nil] "ext4", "tmpfs"
      def file_system(directory)
        mounts = File.binread("/proc/mounts").lines.map { |line| line.split.values_at(1, 2) }
        mounts.select { |point, _| inside?(directory.b, point) }.max_by { |point, _| point.size }&.last
      rescue SystemCallError
        nil
      end

      def inside?(directory, point) = point == "/" || directory == point || directory.start_with?("#{point}/")

      def first_line(path)
        File.foreach(path).first&.strip
      rescue SystemCallError
        nil
      end

      def output(*command)
        text, status = Open3.capture2e(*command)
        status.success? && !text.strip.empty? ? text.strip : nil
      rescue SystemCallError
        nil
      end

      private_class_method :ticks, :cpu, :inside?, :first_line, :output
    end
  end
end
