# frozen_string_literal: true

# Owns what is asked of the file itself: whose it is, who may touch it, whether it opens, and whether memory and disk
# have room for it.

require_relative "../memory_limit"
require_relative "../obstacle"
require_relative "../mount"

module Larder
  class Doctor
    # Checks of {Doctor}.
    module FileChecks
      # How an error ends whose file is of no use.
      UNFIT = "its application replaces it"
      # A file has whole pages.
      PAGE = 4096
      # Where blocks that were reserved do not count as such.
      UNCOUNTED = %w[btrfs zfs].freeze
      private_constant :UNFIT, :UNCOUNTED

      private

      # Who runs the application owns the directory, unless others may make files in it. A console of root's makes
      # files that the application cannot use.
      def owner
        directory = File.stat(File.dirname(@path))
        wanted = directory.uid
        strange = files.find { |file| File.stat(file).uid != wanted }
        return :sound if strange.nil? || directory.mode & 0o022 != 0
        return closed_to(File.stat(strange).uid) if wanted.zero?

        ["#{File.basename(strange)} belongs to #{Obstacle.user(File.stat(strange).uid)}, and its directory to " \
         "#{Obstacle.user(wanted)}, who cannot use it",
         "sudo chown #{Obstacle.user(wanted)} #{both}"]
      end

      def closed_to(uid)
        directory = File.dirname(@path)
        ["#{directory} belongs to root, and the cache to #{Obstacle.user(uid)}, who cannot make it anew there",
         "sudo #{Obstacle.system?(directory) ? "install -d -o" : "chown"} #{Obstacle.user(uid)} #{quoted(directory)}" \
         "#{"/larder # and name a file in it" if Obstacle.system?(directory)}"]
      end

      def mode
        open = files.find { |file| File.stat(file).mode & 0o077 != 0 }
        return :sound unless open

        ["#{File.basename(open)} has mode #{format("%o", File.stat(open).mode & 0o777)}: others than its owner may " \
         "touch what is cached",
         "chmod 600 #{both}"]
      end

      def opens
        Cache.open(@path, create: false) { |cache| @stats = @store ? @store.stats : cache.stats }
        :sound
      rescue OpenError => error
        [error.message, way_in(error)] unless owner != :sound || writable_by_others?
      end

      def writable_by_others?
        files.any? { |file| File.stat(file).mode & 0o022 != 0 }
      end

      # What keeps this process from a file that is fit is not mended by removing it.
      def way_in(error)
        return ask_owner unless File.owned?(@path)
        return "rm #{both} # a cache may be lost: its application makes a new one" if error.message.end_with?(UNFIT)
        return "# name a path on a volume that can be written to" if Mount.read_only?(@path)

        "# mend what it says, or name another path: the file itself may be fit"
      end

      # What is in memory of the file counts as memory of the control group.
      def memory
        limit = MemoryLimit.bytes
        return if limit.nil? || @stats.nil?
        return :sound if bytes <= limit

        why = if Mount.type_of(@path) == "tmpfs"
                "it is on tmpfs, where it is memory: the kernel will end processes to make room"
              else
                "what does not fit is read from disk again and again"
              end
        ["the file has #{shown(bytes)}, and processes here may use #{shown(limit)} of memory: #{why}",
         resize(limit / 2)]
      end

      # A write to a hole of the file ends its process by SIGBUS when the disk is full.
      def space
        return if @stats.nil? # it is replaced, or removed
        return extended if info.size / PAGE > bytes / PAGE
        return if info.blocks.nil? || UNCOUNTED.include?(Mount.type_of(@path))

        reserved = info.blocks * 512
        return :sound if reserved >= bytes * 9 / 10

        ["of #{shown(bytes)} only #{shown(reserved)} are reserved on the disk: a copy has holes, and a full disk " \
         "ends who writes there", "fallocate --length #{bytes} #{quoted(@path)}"]
      end

      def extended
        ["the file was extended to #{shown(info.size)}, of which the cache uses #{shown(bytes)}",
         "truncate --size #{bytes} #{quoted(@path)}"]
      end

      def layer
        type = Mount.type_of(@path)
        return if type.nil?
        return :sound unless type == "overlay"

        ["it is on the container's own layer (overlayfs): it goes when the container does, and one that came " \
         "with the image is copied whole at the first write",
         "docker run --volume larder:#{quoted(File.dirname(@path))} ... # a volume for its directory"]
      end
    end
  end
end
