# frozen_string_literal: true

# Finds a file system in memory. Writes nothing.

require "open3"
require_relative "errors"

module Larder
  module Lab
    # Directories on a tmpfs.
    module Tmpfs
      # Where Linux has one that everybody may write to.
      USUAL = "/dev/shm"

      module_function

      # @param bytes [Integer] room that is needed
      # @return [String] a directory with so much room that we may write to
      # @raise [Unavailable] with what there is
      def directory(bytes)
        found = mounted
        raise Unavailable, "no tmpfs is here that we may write to: mount one (mount -t tmpfs none DIR)" if found.empty?

        found.find { |point| room(point) >= bytes } ||
          raise(Unavailable, "no tmpfs has room for #{bytes / 1_000_000} MB (#{found.join(", ")}): mount a larger one")
      end

      # @return [Array<String>] mount points that we may write to, the usual one first
      def mounted
        points = File.readlines("/proc/mounts").map(&:split).select { |_, _, type| type == "tmpfs" }
        points.map { |_, point, _| point }.select { |point| File.writable?(point) }
              .sort_by.with_index { |point, index| [point == USUAL ? 0 : 1, index] }
      rescue SystemCallError
        []
      end

      # @param point [String]
      # @return [Integer] free bytes
      def room(point)
        said, = Open3.capture2("df", "-Pk", point, err: File::NULL)
        said.lines.last.to_s.split[3].to_i * 1024
      rescue SystemCallError
        0
      end
      private_class_method :mounted, :room
    end
  end
end
