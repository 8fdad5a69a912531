# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab capacity`: how many objects fit.
      class Capacity < Suite
        NAME = "capacity"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "number of objects that fit a given size, and memory or disk per object"
        # The suites that it runs.
        SUITES = %w[capacity].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab capacity [options]

          Measures how many objects a store holds in a given amount of memory or disk, and
          the bytes of each object. Objects with different keys are written until the
          store starts to evict and a tenth more, or until 1.5 times the given size is
          written.
          Then they are read from the last to the first, compared and counted.

          The size of an object is measured by growth: of the blocks of files, of the
          memory of the server, or of the memory of the process. A store that accepts no
          limit is stopped at three times the size that the others may use.
        TEXT
      end
    end
  end
end
