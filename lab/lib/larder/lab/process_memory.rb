# frozen_string_literal: true

# Reads what the kernel tells of the memory of processes. What it does not tell, or not on this system, is nil.

module Larder
  module Lab
    # Bytes, by process.
    module ProcessMemory
      module_function

      # @param pid [Integer, "self", nil]
      # @return [Integer, nil] what of it is in memory, what it shares counted in full
      def resident(pid)
        fields("/proc/#{pid}/status", "VmRSS").first if pid
      end

      # @param pid [Integer, nil]
      # @return [Integer, nil] of it and of all that it has started, what they share counted once
      def tree(pid)
        own = fields("/proc/#{pid}/smaps_rollup", "Pss").first if pid
        own && (own + children(pid).sum { |child| tree(child).to_i })
      end

      # @param path [String] in /proc
      # @param names [Array<String>] of lines with kilobytes
      # @return [Array<Integer, nil>] bytes, all of one moment
      def fields(path, *names)
        text = File.read(path)
        names.map { |name| text[/^#{name}:\s+(\d+)/, 1]&.then { |kilobytes| kilobytes.to_i * 1024 } }
      rescue SystemCallError
        names.map { nil }
      end

      # @param pid [Integer]
      # @return [Array<Integer>] pids of what it has started and what has not ended
      def children(pid)
        Dir.glob("/proc/#{pid}/task/*/children").flat_map { |file| File.read(file).split.map(&:to_i) }
      rescue SystemCallError
        []
      end
    end
  end
end
