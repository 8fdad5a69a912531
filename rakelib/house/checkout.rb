# frozen_string_literal: true

# Copies this checkout: what git knows and what is new, but nothing built.

require "fileutils"
require_relative "environment"

module House
  # Copies the sources.
  module Checkout
    module_function

    # @param target [String] a directory; what was there goes
    # @return [void]
    def copy(target)
      FileUtils.rm_rf(target)
      FileUtils.mkdir_p(target)
      files.each do |file|
        destination = File.join(target, file)
        FileUtils.mkdir_p(File.dirname(destination))
        FileUtils.cp(File.join(ROOT, file), destination, preserve: true)
      end
    end

    # @return [Array<String>] relative paths
    def files
      list = IO.popen(["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                      chdir: ROOT, &:read)
      list.split("\0").uniq.select { |file| File.file?(File.join(ROOT, file)) }
    end
  end
end
