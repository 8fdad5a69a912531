# frozen_string_literal: true

# The list of commands. A new one is one file here and one line at the end of this file.

require_relative "file_command"
require_relative "registry"

module Larder
  module CLI
    # The commands of `larder`, see {Program}.
    module Commands
      extend Registry
      holds "command"

      # @return [Array<String>] names of the commands that act on a file, which may be that of an application
      def self.of_files
        names.select { |name| fetch(name).is_a?(Registry) || fetch(name) <= FileCommand }
      end
    end
  end
end

require_relative "stat"
require_relative "top"
require_relative "size"
require_relative "keys"
require_relative "get"
require_relative "delete"
require_relative "clear"
require_relative "resize"
require_relative "doctor"
require_relative "sessions"
require_relative "completion"
require_relative "man"
