# frozen_string_literal: true

require_relative "../commands/visit_options"
require_relative "objects"

module Larder
  module Lab
    module Capacity
      # The options of `larder-lab capacity`: parsed, checked, explained.
      class Options
        include Commands::VisitOptions

        SIZES = { usual: 32 * 1024 * 1024, quick: 8 * 1024 * 1024 }.freeze
        QUICK_KINDS = %w[1k].freeze
        # Objects that are looked for; of more, a random sample.
        CHECKS = { usual: 50_000, quick: 4000 }.freeze
        BANNER = <<~TEXT
          Usage: larder-lab capacity [options]

          How many objects a store really holds in the room that it is given, and what
          each takes. Objects with distinct keys are written until the store begins to
          give up old ones, and a tenth more, or until half as much again as there is
          room for is written. Then they are read back from the last to the first, each
          compared with what was written, and counted.

          What they take is what has grown by them: blocks of files, memory of the
          server, or memory of the process. A store that takes no limit is stopped when
          it has taken three times as much as the others may.
        TEXT
        FOOTER = <<~TEXT
          Examples:
            larder-lab capacity
            larder-lab capacity --only larder,redis,memcached --objects 100b --size 256MiB

          Exit codes: 0 measured, 1 a value was wrong or nothing could be measured,
          2 wrong usage, 130 interrupted.
        TEXT

        # @param arguments [Array<String>]
        # @return [Options]
        # @raise [UsageError]
        def self.parse(arguments)
          new.parse(arguments)
        end

        # @return [Array<String>] kinds of objects, see {Objects}
        def kinds
          @kinds || (quick? ? QUICK_KINDS : Objects::KINDS.keys)
        end

        # @return [Integer] fillings of each kind
        def rounds
          @rounds || 1
        end

        # @return [Integer] objects that are looked for
        def check
          @check || CHECKS.fetch(quick? ? :quick : :usual)
        end

        private

        def own_options(options)
          options.on("--objects A,B", Array, Objects::KINDS.keys.join(", "),
                     "(default: all, quick #{QUICK_KINDS.first})") { |kinds| @kinds = known(kinds) }
          options.on("--rounds N", Integer, "fillings of each kind (default 1)") do |n|
            @rounds = positive("--rounds", n)
          end
          options.on("--check N", Integer, "objects looked for; of more, a sample", "(default 50,000)") do |n|
            @check = positive("--check", n)
          end
        end

        def known(kinds)
          unknown = kinds - Objects::KINDS.keys
          return kinds.uniq if unknown.empty?

          raise UsageError, "unknown objects #{unknown.first}; known: #{Objects::KINDS.keys.join(", ")}"
        end
      end
    end
  end
end
