# frozen_string_literal: true

# Finds the file system that a file is on. Linux; elsewhere nothing is known.

module Larder
  class Doctor
    # What a line of /proc/self/mountinfo says (proc(5)): the last one that is above a file is what it is on.
    module Mount
      module_function

      # @param path [String] absolute
      # @return [String, nil] "ext4", "overlay", "tmpfs"; nil: not known
      def type_of(path)
        real = File.realpath(path)
        found = File.readlines("/proc/self/mountinfo").reverse.map { |line| line.split(" - ", 2).map(&:split) }
                    .select { |place, _| above?(unescaped(place[4]), real) }
                    .max_by { |place, _| unescaped(place[4]).size }
        found&.last&.first
      rescue SystemCallError
        nil
      end

      def above?(directory, path)
        directory == "/" || path == directory || path.start_with?("#{directory}/")
      end

      def unescaped(text)
        text.gsub(/\\([0-7]{3})/) { $1.oct.chr }
      end

      private_class_method :above?, :unescaped
    end
  end
end
