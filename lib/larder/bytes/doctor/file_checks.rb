# frozen_string_literal: true

# Checks the file itself: its owner and mode, whether it opens, and whether memory and disk have room for it.

require_relative "../memory_limit"
require_relative "../obstacle"
require_relative "../mount"

module Larder
  class Doctor
    # Checks of {Doctor}.
    module FileChecks
      # The end of the error message for a file that cannot be used any more.
      UNFIT = "its application replaces it"
      # The size of a file is a multiple of this.
      PAGE = 4096
      # File systems that do not count reserved blocks.
      UNCOUNTED = %w[btrfs zfs].freeze
      # Behind the command that ends the effect of fsGroup for once.
      AT_EACH_START = " # in Kubernetes set fsGroupChangePolicy: OnRootMismatch, or each start of a pod undoes it"
      private_constant :UNFIT, :UNCOUNTED, :AT_EACH_START

      private

      # A console of root creates files that the application cannot use.
      def owner
        return closed_to(info.uid) if closed?
        return :sound if strange_files.empty?

        owner, strange = Remedy.user(wanted_owner), strange_files
        ["#{grouped(strange, %w[belongs belong]) { |found| "to #{Remedy.user(found.uid)}" }}, and " \
         "#{shared? ? "the cache" : "the directory"} to #{owner}, who cannot use #{strange.one? ? "it" : "them"}",
         Remedy.as_root("chown #{owner} #{quoted(*strange.keys)}")]
      end

      # The user of the application owns the directory. If others may create files in it, or if it is of root, that is
      # the owner of the cache.
      def wanted_owner
        shared? ? info.uid : place.uid
      end

      def strange_files
        all_files.reject { |_, found| found.uid == wanted_owner }
      end

      def shared?
        place.mode & 0o022 != 0
      end

      def closed?
        place.uid.zero? && !info.uid.zero? && !shared?
      end

      def place
        @place ||= File.stat(File.dirname(@path))
      end

      def closed_to(uid)
        directory = File.dirname(@path)
        system = Obstacle.system?(directory)
        ["#{directory} belongs to root, and the cache to #{Remedy.user(uid)}, who cannot create a new file there",
         Remedy.as_root("#{system ? "install -d -o" : "chown"} #{Remedy.user(uid)} #{quoted(directory)}" \
                        "#{"/larder # and name a file in it" if system}")]
      end

      # Only the owner of a file, or root, changes its mode.
      def mode
        open = all_files.select { |_, found| found.mode.anybits?(0o077) }
        return :sound if open.empty?

        command = "chmod 600 #{quoted(*open.keys)}#{AT_EACH_START if Obstacle.group_inherited?(@path)}"
        ["#{grouped(open, %w[has have]) { |found| "mode #{format("%o", found.mode & 0o777)}" }}: users other than " \
         "the owner may read or change #{open.one? ? "it" : "them"}",
         open.each_value.all?(&:owned?) ? command : Remedy.as_root(command)]
      end

      # @param verbs [Array(String, String)] of one file and of more
      # @yieldreturn [String] what is said of a file
      def grouped(found, verbs)
        groups = found.keys.group_by { |file| yield found[file] }
        groups.map { |what, files| "#{names(files)} #{files.one? ? verbs.first : verbs.last} #{what}" }.join(", ")
      end

      def opens
        Cache.open(@path, create: false) do |cache|
          @stats = { **cache.stats, **(@store ? @store.stats : {}) }
          @pids = cache.pids
        end
        :sound
      rescue OpenError => error
        [error.message, way_in(error)] unless caused_before?
      end

      # True if another check has found why the cache does not open.
      def caused_before?
        closed? || files.any? { |file| strange_files.key?(file) || all_files[file].mode & 0o022 != 0 }
      end

      # Only a file that cannot be used any more is removed; another obstacle may keep this process from a good file.
      def way_in(error)
        return ask_owner unless Obstacle.usable?(@path)
        if error.message.end_with?(UNFIT)
          return "rm #{quoted(*files)} # a cache may be lost: its application creates a new one"
        end
        return "# name a path on a volume that can be written to" if Mount.read_only?(@path)

        "# fix what the message says, or name another path: the file itself may be good"
      end

      # The file's pages in memory count as memory of the control group, and so do the hints.
      def memory
        limit = MemoryLimit.bytes
        return if limit.nil? || @stats.nil?
        return :sound if bytes + @stats[:hints_bytes] <= limit

        why = if Mount.type_of(@path) == "tmpfs"
                "it is on tmpfs, so all of it is in memory: the kernel will kill processes to free some"
              else
                "the part that does not fit is read from disk repeatedly"
              end
        ["the file has #{Size.text(bytes)}, and processes here may use #{Size.text(limit)} of memory: #{why}",
         resize(limit / 2)]
      end

      # Not a problem: without /dev/shm the cache only evicts by fewer reads.
      def hints
        return if @stats.nil?

        size = Size.text(@stats[:hints_bytes])
        return [:sound, "its hints take #{size} of memory in /dev/shm"] if @stats[:hints_shared] == 1

        [:sound, "its hints take up to #{size} of each process's memory: here they cannot be shared in /dev/shm"]
      end

      # If the disk is full, a write to a hole of the file raises SIGBUS.
      def space
        return if @stats.nil? # another check proposes to replace or remove it
        return extended if info.size / PAGE > bytes / PAGE
        return if info.blocks.nil? || UNCOUNTED.include?(Mount.type_of(@path))

        reserved = info.blocks * 512
        return :sound if reserved >= bytes * 9 / 10

        ["of #{Size.text(bytes)} only #{Size.text(reserved)} are reserved on the disk: it has holes, as a copy may, " \
         "a write to a hole fails if the disk is full", "fallocate --length #{bytes} #{quoted(@path)}"]
      end

      def extended
        ["the file was extended to #{Size.text(info.size)}, of which the cache uses #{Size.text(bytes)}",
         "truncate --size #{bytes} #{quoted(@path)}"]
      end

      def layer
        type = Mount.type_of(@path)
        return if type.nil?
        return :sound unless type == "overlay"

        ["it is on the container's own layer (overlayfs): it is deleted with the container, and a file " \
         "that came with the image is copied as a whole at the first write",
         "docker run --volume larder:#{quoted(File.dirname(@path))} ... # a volume for its directory"]
      end
    end
  end
end
