# frozen_string_literal: true

require_relative "environment"

module Larder
  module Lab
    # The memory and disk that a store takes at one moment, in bytes, as the kernel reports them; 0 where the system
    # does not. own: private memory of this process; mapped: files that it has mapped and shares; server: memory of the
    # server, shared memory counted once; disk: blocks of files; tmpfs: the same in memory.
    # @api private
    Footprint = Struct.new(:own, :mapped, :server, :disk, :tmpfs, keyword_init: true) do
      def self.take(pid: nil, dirs: [])
        Footprints.settle
        own, *mapped = Footprints.fields("/proc/self/status", "RssAnon", "RssFile", "RssShmem").map(&:to_i)
        disk, tmpfs = Footprints.files(dirs)
        new(own: own, mapped: mapped.sum, server: Footprints.memory(pid).to_i, disk: disk, tmpfs: tmpfs)
      end

      # The growth since then; what has shrunk has grown by nothing.
      def -(other) = self.class.new(**members.to_h { |name| [name, [self[name] - other[name], 0].max] })
    end

    # Where the figures of a {Footprint} come from.
    # @api private
    module Footprints
      # Bytes of a block, as the kernel counts them.
      BLOCK = 512

      module_function

      # Gives back what was freed, so that garbage is not taken for content.
      def settle
        require "fiddle"
        GC.start
        Fiddle::Function.new(Fiddle::Handle::DEFAULT["malloc_trim"], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT).call(0)
      rescue Fiddle::DLError
        nil # another C library
      end

      # The bytes of memory of a process ("self": this one) and of all that it has started, what they share counted
      # once; nil where the system does not tell.
      def memory(pid)
        own = fields("/proc/#{pid}/smaps_rollup", "Pss").first if pid
        own && (own + children(pid).sum { |child| memory(child).to_i })
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

      # The bytes of files on disks, and in memory.
      def files(dirs)
        found = dirs.flat_map { |dir| Dir.glob(File.join(dir, "**", "*"), File::FNM_DOTMATCH) }
        in_memory, on_disk = found.uniq.partition { |path| in_memory?(path) }
        [on_disk.sum { |path| blocks(path) }, in_memory.sum { |path| blocks(path) }]
      end

      def in_memory?(path)
        @types ||= {}
        @types[File.dirname(path)] ||= Environment.file_system(File.dirname(path)) || "unknown"
        @types[File.dirname(path)] == "tmpfs"
      end

      # The bytes of a file; 0 of anything else.
      def blocks(path)
        stat = File.lstat(path)
        stat.file? ? stat.blocks.to_i * BLOCK : 0
      rescue SystemCallError
        0 # gone meanwhile
      end

      private_class_method :children, :in_memory?
    end
  end
end
