# frozen_string_literal: true

# Keeps a cache open whose statistics are read again and again.

require_relative "../bytes/cache"

module Larder
  module Inspection
    # The cache that is at a path. Reading statistics does not check whether the file of an open cache is still
    # there, so the file is compared, and a new one is opened. While there is none, it stays the old one.
    class WatchedFile
      # @param path [String]
      # @yieldparam file [WatchedFile] closed when the block ends
      # @return [Object] the block's
      # @raise [OpenError]
      def self.open(path)
        file = new(path)
        yield file
      ensure
        file&.close
      end

      # A process in another container may have the id of this one.
      #
      # @param cache [Cache]
      # @return [Array<Integer>] ids of the other processes that have it open
      def self.others(cache)
        pids = cache.pids
        pids.delete_at(pids.index(Process.pid) || pids.size)
        pids
      end

      # @param path [String]
      # @raise [OpenError]
      def initialize(path)
        @path = path
        @identity = identity
        @cache = Cache.open(path, create: false)
      end

      # @return [Cache]
      # @raise [OpenError] another file has the path, and cannot be opened
      def cache
        now = identity
        reopen(now) unless now.nil? || now == @identity
        @cache
      end

      # @return [Array<Integer>] ids of the other processes that have it open
      def pids
        WatchedFile.others(@cache)
      end

      # @return [void]
      def close
        @cache.close
      end

      private

      def identity
        status = File.stat(@path)
        [status.dev, status.ino]
      rescue Errno::ENOENT
        nil
      end

      def reopen(now)
        opened = Cache.open(@path, create: false)
        @cache.close
        @cache = opened
        @identity = now
      end
    end
  end
end
