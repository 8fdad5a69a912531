# frozen_string_literal: true

# The room that is left in a file system.

require "open3"

module Larder
  # Asks df, as Ruby has no call for it.
  # @api private
  module FreeSpace
    module_function

    # @param directory [String]
    # @return [Integer, nil] bytes that this user may still write; nil: it cannot be found out
    def of(directory)
      out, = Open3.capture2e("df", "-Pk", directory, binmode: true) # the name of a mount may have any
      free = out.lines.last.to_s.split[3]
      Integer(free, 10) * 1024 if free&.match?(/\A\d+\z/)
    rescue SystemCallError
      nil # df is missing
    end
  end
end
