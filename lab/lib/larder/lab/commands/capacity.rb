# frozen_string_literal: true

require_relative "command"
require_relative "../capacity/chapter"
require_relative "../capacity/fill"
require_relative "../capacity/options"
require_relative "../scratch"
require_relative "../visits"

module Larder
  module Lab
    module Commands
      # `larder-lab capacity`: how many objects fit.
      class Capacity < Command
        NAME = "capacity"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "number of objects that fit a given size, and memory or disk per object"
        # Seconds that a filling takes for each megabyte, by experience, and beside that.
        SECONDS_PER_MEGABYTE = 0.25
        SECONDS = 2.0

        # @param arguments [Array<String>]
        # @return [Lab::Capacity::Options]
        # @raise [UsageError]
        def options_for(arguments)
          Lab::Capacity::Options.parse(arguments)
        end

        # @param options [Lab::Capacity::Options]
        # @return [Document::Chapter]
        def chapter(options)
          Scratch.open(options.directory) do |scratch|
            facts = Environment.facts(scratch.path)
            seconds = SECONDS + (SECONDS_PER_MEGABYTE * options.size / 1e6)
            filled = Visits.each(tasks(options), progress: Progress.new(@err), title: "filling the stores",
                                                 seconds: seconds) do |task|
              Lab::Capacity::Fill.new(task, options, scratch).run
            end
            Lab::Capacity::Chapter.new(filled, options, facts).to_chapter
          end
        end

        private

        # In an order that the seed repeats.
        def tasks(options)
          all = options.contenders.product(options.kinds, (1..options.rounds).to_a)
          all.map { |contender, kind, round| Lab::Capacity::Task.new(contender: contender, kind: kind, round: round) }
             .shuffle(random: Random.new(options.seed))
        end
      end
    end
  end
end
