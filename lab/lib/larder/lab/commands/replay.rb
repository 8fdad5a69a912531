# frozen_string_literal: true

require_relative "replay_options"
require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab replay`: a recorded cache, replayed on every store.
      class Replay < Suite
        NAME = "replay"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "calls that an application has recorded, on every store: time, hits, memory, size"
        # The suites that it runs.
        SUITES = %w[replay].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab replay [FILE] [options]

          Replays the calls of a cache, which an application has recorded, on every store:
          as fast as possible, and at the recorded times. Shows the milliseconds of a
          request that the cache takes, hits, memory, the time of computing that hits
          save, and the size that the cache needs.

          An application records its cache by two lines, whichever store of Rails it has:

            require "larder/lab/record"
            Larder::Lab.record("log/cache.trace")

          The file has no key and no value. Values are made again with the recorded sizes.
          A read that misses stores its value, as the application did; what it computed
          for that is counted, and not computed again. Without a FILE the trace of the
          demonstration application is replayed.
        TEXT

        private

        def parsed(arguments)
          ReplayOptions.new(self.class::SUITES, self.class::BANNER).parse(arguments)
        end
      end
    end
  end
end
