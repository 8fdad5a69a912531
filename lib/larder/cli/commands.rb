# frozen_string_literal: true

# The list of commands. A new one is one file here and one line at the end of this file.

require_relative "registry"

module Larder
  module CLI
    # The commands of `larder`, see {Program}.
    module Commands
      extend Registry
      holds "command"
    end
  end
end

require_relative "stat"
require_relative "clear"
require_relative "resize"
require_relative "doctor"
require_relative "sessions"
