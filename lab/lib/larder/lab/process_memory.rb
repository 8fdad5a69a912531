# frozen_string_literal: true

# Reads what the kernel tells of the memory of processes. What it does not tell, or not on this system, is nil.

module Larder
  module Lab
    # Bytes, by process.
    # @api private
    module ProcessMemory
      module_function

      # The bytes of a process that are in memory, what it shares counted in full.
      def resident(pid)
        fields("/proc/#{pid}/status", "VmRSS").first if pid
      end

      # The bytes of a process and of all that it has started, what they share counted once.
      def tree(pid)
        own = fields("/proc/#{pid}/smaps_rollup", "Pss").first if pid
        own && (own + children(pid).sum { |child| tree(child).to_i })
      end

      # The bytes of these lines of a file in /proc, all of one moment.
      def fields(path, *names)
        text = File.read(path)
        names.map { |name| text[/^#{name}:\s+(\d+)/, 1]&.then { |kilobytes| kilobytes.to_i * 1024 } }
      rescue SystemCallError
        names.map { nil }
      end

      # The pids of what a process has started and what has not ended.
      def children(pid)
        Dir.glob("/proc/#{pid}/task/*/children").flat_map { |file| File.read(file).split.map(&:to_i) }
      rescue SystemCallError
        []
      end
    end
  end
end
