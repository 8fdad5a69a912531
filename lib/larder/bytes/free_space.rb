# frozen_string_literal: true

# The room that is left in a file system.

require "open3"

module Larder
  # Asks df, as Ruby has no call for it.
  # @api private
  module FreeSpace
    # Blocks, used, free, and the share that is used, in a line that may have spaces in its names.
    FREE = /\s\d+\s+\d+\s+(\d+)\s+(?:\d+%|-)\s/n
    private_constant :FREE

    module_function

    # @param directory [String]
    # @return [Integer, nil] bytes that this user may still write; nil: it cannot be found out
    def of(directory)
      out, = Open3.capture2e("df", "-Pk", directory, binmode: true) # the name of a mount may have any
      free = out.lines.last.to_s[FREE, 1]
      Integer(free, 10) * 1024 if free
    rescue SystemCallError
      nil # df is missing
    end
  end
end
