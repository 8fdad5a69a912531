# frozen_string_literal: true

# Finds the file system that a file is on, and whether it is mounted read-only. Only on Linux.

module Larder
  # What a line of /proc/self/mountinfo says (proc(5)): the last one that is above a file is what it is on.
  # @api private
  module Mount
    module_function

    # @param path [String] absolute, of what is there
    # @return [String, nil] "ext4", "overlay", "tmpfs"; nil: not known
    def type_of(path)
      above(path)&.last&.first
    end

    # @param path [String] absolute, of what is there
    # @return [String, nil] where the file system is mounted; the path itself for a file that is a mount
    def point_of(path)
      place, = above(path)
      unescaped(place[4]) if place
    end

    # @param path [String] absolute, of what is there
    # @return [Boolean] false also where that is not known
    def read_only?(path)
      place, system = above(path)
      place ? [place[5], system[2]].any? { |options| options.split(",").include?("ro") } : false
    end

    # @return [Array(Array<String>, Array<String>), nil] the fields of a line, before and after its dash
    def above(path)
      real = File.realpath(path).b
      File.readlines("/proc/self/mountinfo", mode: "rb").reverse.map { |line| line.split(" - ", 2).map(&:split) }
          .select { |place, _| above?(unescaped(place[4]), real) }
          .max_by { |place, _| unescaped(place[4]).size }
    rescue SystemCallError
      nil
    end

    def above?(directory, path)
      directory == "/" || path == directory || path.start_with?("#{directory}/")
    end

    def unescaped(text)
      text.gsub(/\\([0-7]{3})/) { $1.oct.chr }
    end

    private_class_method :above, :above?, :unescaped
  end
end
