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

          Measures how many objects a store holds in a given amount of memory or disk, and
          what each object takes. Objects with different keys are written until the store
          starts to evict and a tenth more, or until 1.5 times the given size is written.
          Then they are read from the last to the first, compared and counted.

          The size of an object is measured by growth: of the blocks of files, of the
          memory of the server, or of the memory of the process. A store that accepts no
          limit is stopped at three times the size that the others may use.
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
          options.on("--rounds N", Integer, "runs for each kind of object (default 1)") do |n|
            @rounds = positive("--rounds", n)
          end
          options.on("--check N", Integer, "objects to read back; a sample if there",
"are more (default 50,000)") do |n|
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
