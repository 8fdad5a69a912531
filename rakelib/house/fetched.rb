# frozen_string_literal: true

# Keeps downloads in a directory of this machine, shared by all checkouts.

require "fileutils"
require_relative "environment"

module House
  # A directory in the machine's cache directory. It is complete or absent.
  class Fetched
    # In the directory: what it was made of.
    READY = ".larder-ready"
    private_constant :READY

    # @param name [String] unique on the machine
    # @param made_of [#to_s] when this changes, the directory is made again
    def initialize(name, made_of:)
      @name = name
      @made_of = made_of.to_s
    end

    # @return [String] whether it is there or not
    def directory
      File.join(Environment.cache_directory, @name)
    end

    # @return [Boolean]
    def there?
      mark = File.join(directory, READY)
      File.exist?(mark) && File.read(mark) == @made_of
    end

    # @yieldparam partial [String] an empty directory to fill, which then becomes the one
    # @return [String] the directory
    def fetch
      FileUtils.mkdir_p(Environment.cache_directory)
      File.open("#{directory}.lock", File::RDWR | File::CREAT, 0o600) do |lock|
        lock.flock(File::LOCK_EX)
        there? || replace { |partial| yield partial }
      end
      directory
    end

    private

    def replace
      partial = "#{directory}.partial"
      FileUtils.rm_rf(partial)
      FileUtils.mkdir_p(partial)
      yield partial
      File.write(File.join(partial, READY), @made_of)
      FileUtils.rm_rf(directory)
      File.rename(partial, directory)
    end
  end
end
