# frozen_string_literal: true

require_relative "../loads/options"
require_relative "../reports/figures"
require_relative "stores"

module Larder
  module Lab
    module SessionStats
      # The options of `larder-lab session-stats`.
      class Options < Loads::Options
        LOAD = "session-stats"
        DEFAULT = { rounds: 5, seconds: 0.2, sizes: [10_000, 1_000_000], limit: nil }.freeze
        QUICK = { rounds: 3, seconds: 0.03, sizes: [10_000], limit: nil }.freeze
        # Who takes part in a quick run.
        QUICKLY = %w[larder sql-mariadb].freeze
        # Of --sizes: with fewer there would be nobody to ask about.
        LEAST = 100
        # Seconds that loading a session takes, and each question beyond its block: warming up, checking, putting back.
        LOADING = 100e-6
        BESIDE = 0.1
        QUESTIONS = 8
        BANNER = <<~TEXT
          Usage: larder-lab session-stats [options]

          What it costs to know about sessions, in Larder and in SQL, at 10,000 and at
          1,000,000 sessions:

            is a user logged in (one who is, one who is not); when was a user last seen;
            which are a user's sessions; how many were active in the last 5 minutes, in
            the last day; how many are there; and what a request pays for it: noting that
            a session was used, whose last use was a minute ago.

          Every second session is that of a user who has signed in, one session a user.
          Their uses are spread evenly over a day, and everything is asked at the same
          moment of it, so that each answer is known beforehand, and is compared with it:
          in SQL to the second, in Larder to a minute, beyond two hours to an hour, as it
          documents.

          SQL has the table that an application would make for this: session_id, user_id,
          data, created_at, updated_at, with indexes on session_id (unique), user_id and
          updated_at, and hand-written SQL without a model. It is loaded in bulk, then
          indexed and analyzed. Servers have their own defaults, by which each commit is
          written to disk; that is most of what noting a use takes there.

          A million sessions take a minute or two to load, half a gigabyte of disk in each
          store, and all of it some ten minutes.
        TEXT
        FOOTER = <<~TEXT
          Examples:
            larder-lab session-stats --quick
            larder-lab session-stats --sizes 10000,1000000 --html session-stats.html
            larder-lab session-stats --only larder --sizes 1000000
        TEXT

        # @return [String] the contenders
        def list
          ["Contenders (--only, --except):", *listed(registry)].join("\n")
        end

        private

        def registry
          Stores
        end

        def expiry
          "an hour"
        end

        def settings
          { seconds: much(:seconds), sizes: much(:sizes) }
        end

        # What is loaded stays for all rounds.
        def process_seconds
          sizes = much(:sizes)
          1.0 + (sizes.size * QUESTIONS * (much(:seconds) + BESIDE)) + (sizes.sum * LOADING / much(:rounds))
        end

        def own_options(options)
          usual, quick = [DEFAULT, QUICK].map { |mode| mode.fetch(:sizes).join(",") }
          options.on("--sizes A,B", Array, "sessions (default #{usual},", "quick #{quick})") do |words|
            sizes = counts("--sizes", words)
            raise UsageError, "--sizes must be #{LEAST} or more, not #{sizes.min}" if sizes.min < LEAST

            @given[:sizes] = sizes
          end
        end
      end
    end
  end
end
