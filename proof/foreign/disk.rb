# frozen_string_literal: true

# A small disk of its own for the files of Larder, which another file can fill.

require "fileutils"
require_relative "shell"

module Foreign
  # A file system in a file, mounted at a directory. It is for root.
  class Disk
    CHUNK = "\0" * (1 << 16)

    # @return [String] where it is mounted
    attr_reader :directory

    # @param directory [String]
    # @param size [Integer] bytes
    def initialize(directory, size:)
      @directory = directory
      @image = "#{directory}.image"
      @size = size
    end

    # @return [String, nil] why there can be none here; nil: there can
    def self.missing
      return "only root can mount" unless Process.uid.zero?

      "mkfs.ext4 is not installed" unless ["/sbin", "/usr/sbin"].any? { |path| File.executable?("#{path}/mkfs.ext4") }
    end

    # @return [Disk] self
    def mount
      FileUtils.mkdir_p(@directory)
      File.open(@image, "w") { |file| file.truncate(@size) }
      Shell.run(["mkfs.ext4", "-q", "-m", "0", @image], env: { "PATH" => "#{ENV.fetch("PATH")}:/sbin:/usr/sbin" })
      Shell.run(["mount", "-o", "loop", @image, @directory])
      self
    end

    # @return [void]
    def unmount
      Shell.status(["umount", "--lazy", @directory])
      FileUtils.rm_f(@image)
    end

    # Writes a file until no room is left.
    #
    # @return [Integer] bytes that it took
    def fill
      File.open(filler, "a") do |file|
        file.sync = true
        loop { file.write(CHUNK) }
      rescue Errno::ENOSPC
        file.size
      end
    end

    # @return [void]
    def free
      FileUtils.rm_f(filler)
    end

    private

    def filler
      File.join(@directory, "filler")
    end
  end
end
