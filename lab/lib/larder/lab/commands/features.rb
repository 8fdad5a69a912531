# frozen_string_literal: true

require_relative "command"
require_relative "visit_options"
require_relative "../features/chapter"
require_relative "../scratch"

module Larder
  module Lab
    module Commands
      # The options of `larder-lab features`.
      class FeaturesOptions
        include VisitOptions

        SIZES = { usual: 8 * 1024 * 1024, quick: 8 * 1024 * 1024 }.freeze
        # One of each kind, and Larder in front of a remote store.
        QUICKLY = %w[larder memory file solid_cache litecache redis valkey memcached larder-redis].freeze
        BANNER = <<~TEXT
          Usage: larder-lab features [options]

          Tests each cell of the published table of Rails cache stores: does a second
          process see what the first wrote, does the store serialize, compress, spread
          over servers, is it limited by memory or by disk. It also tests whether values
          survive a restart and kill -9 of the application and of the server, increments
          of several processes at once, fork, expiry, race_condition_ttl, delete_matched,
          long keys, the largest value, and eviction.

          Private servers are stopped, killed and filled. A server that you name by a URL
          is not; its cells say so.
        TEXT
        FOOTER = <<~TEXT
          How to read the tables: "unknown": it was tried and gave no answer; "not
          tested": it was not tried. Both have their reasons below the tables.

          Examples:
            larder-lab features
            larder-lab features --only larder,redis,memcached --html features.html

          Exit codes: 0 tested, 1 nothing could be tested, 2 wrong usage, 130 interrupted.
        TEXT

        # @return [Array<String>] none: a quick run has one store of each kind
        def left_out = []

        private

        def chosen_contenders = @only || (quick? ? QUICKLY : Contenders.usual | QUICKLY)
      end

      # `larder-lab features`: what each store does, tested.
      class Features < Command
        NAME = "features"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "tests what each store can do: sharing, persistence, eviction, compression"
        # Seconds that a visit takes, by experience.
        ESTIMATE = 15.0

        # @return [FeaturesOptions]
        def options_for(arguments) = FeaturesOptions.new.parse(arguments)

        # @return [Document::Chapter]
        def chapter(options)
          Scratch.open(options.directory) do |scratch|
            facts = Environment.facts(scratch.path)
            rows = Visits.each(options.contenders, progress: Progress.new(@err), title: "asking the stores",
                                                   seconds: ESTIMATE) do |name|
              Lab::Features::Visit.new(name, options, scratch).run
            end
            Lab::Features::Chapter.new(rows, options, facts).to_chapter
          end
        end
      end
    end
  end
end
