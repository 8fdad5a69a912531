# frozen_string_literal: true

require_relative "../commands/visit_options"

module Larder
  module Lab
    module Features
      # The options of `larder-lab features`: parsed, checked, explained.
      class Options
        include Commands::VisitOptions

        SIZES = { usual: 8 * 1024 * 1024, quick: 8 * 1024 * 1024 }.freeze
        BANNER = <<~TEXT
          Usage: larder-lab features [options]

          Tests each cell of the published table of Rails cache stores: does a second
          process see what the first wrote, do values survive a restart and kill -9 of the
          application and of the server, does the store serialize, compress, evict by
          size, and is it limited by memory or by disk. It also tests increments of
          several processes at once, fork, expiry, race_condition_ttl, delete_matched,
          long keys, and the largest value.

          Private servers are stopped, killed and filled. A server that you name by a URL
          is not; its cells say so.
        TEXT
        FOOTER = <<~TEXT
          How to read the tables: "(published: no)" in a cell means that the published
          table has another answer. --json and --markdown contain the reasons.

          Examples:
            larder-lab features
            larder-lab features --only larder,redis,memcached --html features.html

          Exit codes: 0 tested, 1 nothing could be tested, 2 wrong usage, 130 interrupted.
        TEXT

        # @param arguments [Array<String>]
        # @return [Options]
        # @raise [UsageError]
        def self.parse(arguments)
          new.parse(arguments)
        end

        # @return [Integer] processes beside the first one
        def peers
          quick? ? 1 : 2
        end

        # @return [Integer] bytes of the largest value that is tried
        def largest
          (quick? ? 4 : 16) * 1024 * 1024
        end

        # @return [Integer] bytes of the small values that a store is filled with
        def small
          quick? ? 8000 : 1000
        end

        private

        # Also those that other commands visit on request only: each is a row of the table.
        def chosen_contenders
          quick? ? super : @only || Contenders.names
        end
      end
    end
  end
end
