# frozen_string_literal: true

require "larder/cli/registry"

module Larder
  module Lab
    # The commands of `larder-lab`, see {CLI::Program}. A new one is a line of its suite, or one file in commands/ and
    # one line at the end.
    # @api private
    module Commands
      extend CLI::Registry
      holds "command"

      # The order in which they are listed and run: what is used and read first comes first.
      ORDER = %w[overview advise all applications stores calls replay features sessions session-stats latency scaling
                 soak stampede capacity network machines deploy compressors serializers strategies matrix hitratio
                 compare report].freeze

      # @return [Array<String>]
      def self.names = (ORDER & super) | super
    end
  end
end

require_relative "commands/suite"
require_relative "commands/hitratio"
require_relative "commands/all"
require_relative "commands/compare"
require_relative "commands/report"
require_relative "commands/advise"
