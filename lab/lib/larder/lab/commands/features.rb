# frozen_string_literal: true

require "etc"
require_relative "command"
require_relative "contender_options"
require_relative "../features/chapter"
require_relative "../progress"
require_relative "../scratch"

module Larder
  module Lab
    module Commands
      # The options of `larder-lab features`.
      class FeaturesOptions
        include CommandLine
        include ContenderOptions

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

        # @return [String, nil] where stores keep their files
        attr_reader :directory

        # @return [String] the contenders
        def list = ["Contenders (--only, --except):", *listed(Contenders)].join("\n")

        # @return [Array<String>] none: a quick run has one store of each kind
        def left_out = []

        private

        def chosen_contenders = @only || (quick? ? QUICKLY : Contenders.usual | QUICKLY)

        def understood
          load_extensions
          contenders unless list?
        end

        def parser
          @parser ||= explained(BANNER, FOOTER) do |options|
            options.separator("\nWhat:")
            options.on("--quick", "one store of each kind") { @quick = true }
            contender_options(options)
            seed_option(options, "seed of random values, to repeat a run")
            extension_options(options)
            options.on("--list", "list the contenders") { @list = true }
            server_options(options)
          end
        end
      end

      # `larder-lab features`: what each store does, tested.
      class Features < Command
        NAME = "features"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "tests what each store can do: sharing, persistence, eviction, compression"
        # Seconds that a visit takes, by experience, and how many are made at once: more would fill memory.
        ESTIMATE = 15.0
        AT_ONCE = Etc.nprocessors.clamp(1, 4)

        # @return [FeaturesOptions]
        def options_for(arguments) = FeaturesOptions.new.parse(arguments)

        # @return [Document::Chapter]
        def chapter(options)
          Scratch.open(options.directory) do |scratch|
            facts = Environment.facts(scratch.path)
            names = options.contenders
            rows = visit(names, options, scratch)
            Lab::Features::Chapter.new(rows.values_at(*names), options.seed, facts).to_chapter
          end
        end

        private

        # All visits end when one fails or the lab is interrupted.
        def visit(names, options, scratch)
          progress = Progress.new(@err)
          progress.start("asking the stores", names.size, seconds: names.size * ESTIMATE / AT_ONCE,
                                                          nouns: %w[visit visits])
          lock = Mutex.new
          queue = names.dup
          rows = {}
          threads = Array.new(AT_ONCE) do
            Thread.new do
              Thread.current.report_on_exception = false
              while (name = queue.shift)
                lock.synchronize { progress.step(name, seconds: ESTIMATE / AT_ONCE) }
                rows[name] = Lab::Features::Visit.new(name, options, scratch).run
              end
            end
          end
          threads.each(&:join)
          rows
        ensure
          threads&.each(&:kill)&.each { |thread| thread.join if thread.alive? }
          progress.finish
        end
      end
    end
  end
end
