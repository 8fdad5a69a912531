# frozen_string_literal: true

# Says what keeps this process from opening a cache at a path, and which command mends it. Looks at the file system
# only when something has failed.

require "etc"
require "shellwords"

module Larder
  # @api private
  module Obstacle
    module_function

    # @param path [String] absolute
    # @return [String, nil] a sentence that names who owns what, who runs this process, and a command; nil: nothing is
    #   seen that would keep it from the file
    def at(path)
      file = [path, "#{path}.lock"].find { |one| File.exist?(one) && !usable?(one) }
      return foreign_file(file, path) if file

      directory = nearest_directory(path)
      return "#{directory} is not a directory: mv #{quoted(directory)} #{quoted("#{directory}.other")}" \
        unless File.directory?(directory)
      return if File.writable?(directory) || (File.exist?(path) && File.exist?("#{path}.lock"))

      closed_directory(directory)
    end

    # Root uses what belongs to the owner of the directory.
    def usable?(file)
      owner = File.stat(file).uid
      owner == Process.euid || (Process.euid.zero? && owner == File.stat(File.dirname(file)).uid)
    end

    def foreign_file(file, path)
      "#{file} belongs to #{user(File.stat(file).uid)}, and this process runs as #{user(Process.euid)}: " \
        "sudo chown #{user(Process.euid)} #{quoted(path)} #{quoted("#{path}.lock")}"
    end

    def closed_directory(directory)
      if read_only?(directory)
        "#{directory} is on a read-only file system: let LARDER_PATH name a file on a volume that can be written to"
      else
        "#{directory} belongs to #{user(File.stat(directory).uid)}, and #{user(Process.euid)}, who runs this " \
          "process, may not write to it: sudo chown #{user(Process.euid)} #{quoted(directory)}"
      end
    end

    # Writable by its mode, or for root, and yet not.
    def read_only?(directory)
      Process.euid.zero? || File.stat(directory).owned?
    end

    def nearest_directory(path)
      directory = File.dirname(path)
      directory = File.dirname(directory) until File.exist?(directory)
      directory
    end

    # @param uid [Integer]
    # @return [String] the user's name, or the number where it is nobody's, as in containers
    def user(uid)
      Etc.getpwuid(uid)&.name || uid.to_s
    rescue ArgumentError
      uid.to_s
    end

    def quoted(path)
      Shellwords.escape(path)
    end

    private_class_method :usable?, :foreign_file, :closed_directory, :read_only?, :nearest_directory, :quoted
  end
end
