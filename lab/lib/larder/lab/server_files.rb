# frozen_string_literal: true

# Makes the files that servers of a kind begin with once, and copies them for each server. Knows no server.

require "fileutils"

module Larder
  module Lab
    # The files of a run, as `initdb` makes them. Threads may ask at once.
    # @api private
    class ServerFiles
      # @param dir [String] exists as long as the run
      def initialize(dir)
        @dir = dir
        @lock = Mutex.new
      end

      def copy(name, place)
        files = File.join(@dir, name)
        @lock.synchronize { make(files) { |directory| yield directory } unless File.directory?(files) }
        FileUtils.cp_r(files, place, preserve: true)
      end

      private

      # Files of a program that failed halfway are not taken for its files.
      def make(files)
        unfinished = "#{files}.unfinished"
        FileUtils.rm_rf(unfinished)
        yield unfinished
        File.rename(unfinished, files)
      end
    end
  end
end
