# frozen_string_literal: true

# Owns the list of commands. A new one is one file here and one line at the end of this file.

require_relative "registry"

module Larder
  module CLI
    # What `larder` can do. Each has a SUMMARY and `hint`, is made of where it writes and reads, and answers
    # `run(arguments)` with an exit code.
    module Commands
      extend Registry
    end
  end
end

require_relative "stat"
require_relative "clear"
require_relative "resize"
require_relative "doctor"
require_relative "sessions"
