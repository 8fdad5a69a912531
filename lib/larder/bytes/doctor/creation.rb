# frozen_string_literal: true

# Finds the causes that keep this process from creating a file: the file system refuses it, or has too little room.

require_relative "../application"
require_relative "../free_space"
require_relative "../obstacle"
require_relative "../remedy"
require_relative "../size"

module Larder
  class Doctor
    # @api private
    module Creation
      # After a sentence of Obstacle.
      DO_THAT = "# do what the last sentence says"
      private_constant :DO_THAT

      module_function

      # @param path [String] absolute, of a file that is not there
      # @param bytes [Integer] that the file will take; by default the least of a cache
      # @return [Array(String, String), nil] the cause, and the command; nil: none is seen
      def hindrance(path, bytes = least_size)
        obstacle = Obstacle.at(path)
        return [obstacle, DO_THAT] if obstacle

        limited(path, bytes) || crowded(path, bytes)
      end

      # As ulimit -f, or LimitFSIZE= of systemd.
      def limited(path, bytes)
        most, = Process.getrlimit(:FSIZE)
        return if most == Process::RLIM_INFINITY || most >= bytes

        ["#{path} takes #{Size.text(bytes)}, and this process may write files of #{Size.text(most)}",
         "ulimit -f unlimited"]
      end

      def crowded(path, bytes)
        directory = File.dirname(path)
        directory = File.dirname(directory) until File.exist?(directory)
        free = FreeSpace.of(directory)
        return if free.nil? || free > bytes

        ["#{path} takes #{Size.text(bytes)}, and #{Size.text(free)} are free",
         "df -h #{Remedy.quoted(directory)}; df -i #{Remedy.quoted(directory)}"]
      end

      # Bytes that a new file takes at least, if the size that its store has configured is not known.
      def least_size
        wanted = Application.variable("LARDER_SIZE")
        wanted ? Size.parse(wanted, "LARDER_SIZE") : Cache::MIN_SIZE
      rescue ::ArgumentError
        Cache::MIN_SIZE # the application refuses such a value, and names it
      end

      private_class_method :limited, :crowded, :least_size
    end
  end
end
