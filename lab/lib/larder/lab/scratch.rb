# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require_relative "errors"
require_relative "guarded"

module Larder
  module Lab
    # The temporary directory under which every store of a run keeps its files. The lab removes it, or a warden if the
    # lab is killed.
    # @api private
    class Scratch
      attr_reader :path

      # Makes the directory in `parent` (nil: the system's place for temporary files), yields, and removes it. Raises
      # UsageError if the parent cannot be written.
      def self.open(parent = nil)
        scratch = new(parent)
        yield scratch
      ensure
        scratch&.remove
      end

      def initialize(parent)
        @path = File.realpath(Dir.mktmpdir("larder-lab-", parent))
        @count = 0
        @warden, @duty = Guarded.watch("remove", path, close_others: true)
        # The processes that the lab starts from now on have the pipe, too, so the warden waits for their ends. A
        # process that is still ending makes no file in a directory that was removed before.
        @duty.close_on_exec = false
      rescue SystemCallError => error
        raise UsageError, "cannot make a directory in #{parent || Dir.tmpdir}: #{error.message}"
      end

      # Yields a new empty directory and removes it afterwards.
      def directory
        @count += 1
        dir = File.join(path, @count.to_s)
        Dir.mkdir(dir, 0o700)
        yield dir
      ensure
        FileUtils.rm_rf(dir)
      end

      def remove
        FileUtils.rm_rf(path)
        @duty.close
        Process.kill(:TERM, @warden) # a process that outlives the lab may have the pipe, too
        Process.wait(@warden)
      rescue Errno::ECHILD, Errno::ESRCH
        nil
      end
    end
  end
end
