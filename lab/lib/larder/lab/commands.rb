# frozen_string_literal: true

# The list of commands. A new one is one file in commands/ and one line at the end of this file.

require "larder/cli/registry"

module Larder
  module Lab
    # The commands of `larder-lab`, see {CLI::Program}.
    module Commands
      extend CLI::Registry
      holds "command"
    end
  end
end

require_relative "commands/applications"
require_relative "commands/stores"
require_relative "commands/calls"
require_relative "commands/overview"
require_relative "commands/latency"
require_relative "commands/scaling"
require_relative "commands/soak"
require_relative "commands/stampede"
require_relative "commands/hitratio"
require_relative "commands/replay"
require_relative "commands/compressors"
require_relative "commands/serializers"
require_relative "commands/strategies"
require_relative "commands/matrix"
require_relative "commands/network"
require_relative "commands/layered"
require_relative "commands/sessions"
require_relative "commands/session_stats"
require_relative "commands/all"
require_relative "commands/compare"
require_relative "commands/report"
require_relative "commands/features"
require_relative "commands/capacity"
require_relative "commands/advise"
