# frozen_string_literal: true

require "larder/cli/registry"

module Larder
  module Lab
    # The commands of `larder-lab`, see {CLI::Program}. A new one is a line of its suite, or one file in commands/ and
    # one line here.
    # @api private
    module Commands
      extend CLI::Registry
      holds "command"

      # In the order in which they are listed and run: what is used and read first comes first.
      require_relative "commands/suite"
      require_relative "commands/advise"
      require_relative "commands/all"
      Suites.names.each { |name| Suite.of(*Suites.fetch(name).command, [name]) }
      require_relative "commands/hitratio"
      require_relative "commands/compare"
      require_relative "commands/report"
    end
  end
end
