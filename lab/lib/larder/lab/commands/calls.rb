# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab calls`: single calls, and the least that they could take.
      class Calls < Suite
        NAME = "calls"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "time of single calls by size of the value, and the least that a cache in Ruby takes"
        # The suites that it runs.
        SUITES = %w[calls].freeze
        # A store of each kind, and the floor.
        ROWS = %w[larder memory file litecache redis floor].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab calls [options]

          Measures single calls of Rails' cache API with Strings from 100 bytes to 1 MB:
          reads and writes, misses, read_multi and write_multi, deletes, counters, options,
          and calls with a subscriber to their events. Unless --only names others, the rows
          are larder, memory, file, litecache, redis and the floor, which is not a store:
          it looks a key up in a Hash and copies the value, the least a cache in Ruby does.
        TEXT

        # @param arguments [Array<String>]
        # @return [SuiteOptions]
        # @raise [UsageError]
        def options_for(arguments)
          super(["--only", ROWS.join(","), *arguments])
        end
      end
    end
  end
end
