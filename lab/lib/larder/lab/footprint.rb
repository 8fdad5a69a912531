# frozen_string_literal: true

require_relative "environment"

module Larder
  module Lab
    # The memory and disk that a store takes at one moment, in bytes, as the kernel reports them; 0 where the system
    # does not. own: private memory of this process; mapped: files that it has mapped and shares; server: memory of the
    # server, shared memory counted once; disk: blocks of files; tmpfs: the same in memory.
    # @api private
    Footprint = Struct.new(:own, :mapped, :server, :disk, :tmpfs, keyword_init: true) do
      class << self
        def take(pid: nil, dirs: [])
          settle
          own, *mapped = fields("/proc/self/status", "RssAnon", "RssFile", "RssShmem").map(&:to_i)
          disk, tmpfs = files(dirs)
          new(own: own, mapped: mapped.sum, server: memory(pid).to_i, disk: disk, tmpfs: tmpfs)
        end

        # The bytes of memory of a process ("self": this one) and of all that it has started, what they share counted
        # once; nil where the system does not tell.
        def memory(pid)
          own = fields("/proc/#{pid}/smaps_rollup", "Pss").first if pid
          own && (own + children(pid).sum { |child| memory(child).to_i })
        end

        # The bytes of files on disks, and in memory: those of their blocks, 512 each.
        def files(dirs)
          types = {}
          sums = Hash.new(0)
          dirs.flat_map { |dir| Dir.glob(File.join(dir, "**", "*"), File::FNM_DOTMATCH) }.uniq.each do |path|
            stat = File.lstat(path)
            next unless stat.file?

            types[stat.dev] ||= Environment.file_system(File.dirname(path)).to_s
            sums[types[stat.dev] == "tmpfs"] += stat.blocks.to_i * 512
          rescue SystemCallError
            nil # removed since it was listed
          end
          sums.values_at(false, true)
        end

        private

        # Gives back what was freed, so that garbage is not taken for content.
        def settle
          require "fiddle"
          GC.start
          Fiddle::Function.new(Fiddle::Handle::DEFAULT["malloc_trim"], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT).call(0)
        rescue Fiddle::DLError
          nil # another C library
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

      # The growth since then; what has shrunk has grown by nothing.
      def -(other) = self.class.new(**members.to_h { |name| [name, [self[name] - other[name], 0].max] })
    end
  end
end
