# frozen_string_literal: true

# The list of suites. A new one is one file in suites/ and one line at the end of this file, in the order in which suites
# are listed and run.

require "larder/cli/registry"
require_relative "bench/suite"

module Larder
  module Lab
    # The suites, by the names users type, and what they do in their blocks.
    # @api private
    module Suites
      extend CLI::Registry
      holds "suite"
    end
  end
end

require_relative "suites/applications"
require_relative "suites/published_a"
require_relative "suites/calls"
require_relative "suites/replay"
require_relative "suites/features"
require_relative "suites/published_e"
require_relative "suites/session_questions"
require_relative "suites/tails"
require_relative "suites/scaling"
require_relative "suites/soak"
require_relative "suites/stampede"
require_relative "suites/capacity"
require_relative "suites/wire"
require_relative "suites/machines"
require_relative "suites/deploy"
require_relative "suites/published_b"
require_relative "suites/published_c"
require_relative "suites/published_d"
require_relative "suites/matrix"
