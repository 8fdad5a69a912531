# frozen_string_literal: true

# The files of test processes, in memory. Each process has a directory, which it locks as long as it lives and removes
# at its end. A process that was killed leaves its own, which the next one removes.

require "fileutils"
require "tmpdir"

module Larder
  module TestHelper
    # The directory of a process.
    # @api private
    class Memory
      # A file system in memory. Without it, or without room in it, the files are in the directory for temporary files.
      PLACE = "/dev/shm"
      PREFIX = "larder-tests-"
      LOCK = "alive"
      private_constant :PLACE, :PREFIX, :LOCK

      class << self
        # @return [Memory] that of this process, made at the first call
        def current
          @current = new(Process.pid) unless @current&.pid == Process.pid
          @current
        end

        # Removes directories of processes that have ended.
        #
        # @param place [String]
        # @return [void]
        def sweep(place)
          Dir[File.join(place, "#{PREFIX}*")].each { |directory| FileUtils.rm_rf(directory) if ended?(directory) }
        end

        # @return [String] the path of the lock in a directory
        def lock(directory)
          File.join(directory, LOCK)
        end

        private

        # True if it is a directory of this user whose lock is free.
        def ended?(directory)
          return false unless File.lstat(directory).then { |found| found.directory? && found.owned? }

          File.open(lock(directory)) { |file| file.flock(File::LOCK_EX | File::LOCK_NB) } ? true : false
        rescue Errno::ENOENT
          false # another process removes it
        end
      end

      # @return [Integer] of the process
      attr_reader :pid
      # @return [String]
      attr_reader :directory

      def initialize(pid)
        @pid = pid
        @files = 0
        @directory = PLACE if File.writable?(PLACE)
        @directory = make(@directory || Dir.tmpdir)
      end

      # @yieldparam path [String] of a file that is not there
      # @yieldreturn [Larder::Cache]
      # @return [Larder::Cache] open, with a file; in the directory for temporary files if memory has no room for it
      def open(&block)
        attached(&block)
      rescue OpenError
        raise if @directory.start_with?(Dir.tmpdir)

        remove
        @directory = make(Dir.tmpdir)
        attached(&block)
      end

      # @return [void]
      def remove
        FileUtils.rm_rf(@directory)
        @lock.close
      end

      private

      def attached
        cache = yield File.join(@directory, "cache#{@files += 1}.larder")
        cache.clear # opens it
      end

      # The directory gets its name once it is locked, so that no other process sweeps it.
      def make(place)
        Memory.sweep(place)
        unlocked = Dir.mktmpdir(".#{PREFIX}", place)
        @lock = File.open(Memory.lock(unlocked), File::RDWR | File::CREAT)
        @lock.flock(File::LOCK_EX)
        File.join(place, "#{PREFIX}#{File.basename(unlocked).delete_prefix(".#{PREFIX}")}").tap do |directory|
          File.rename(unlocked, directory)
        end
      end
    end
  end
end
