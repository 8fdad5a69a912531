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

          Measures queries about sessions in Larder and in SQL, with 10,000 and with
          1,000,000 sessions: is a user logged in (one who is, one who is not), when was a
          user last seen, which sessions does a user have, how many were active in the
          last 5 minutes and in the last day, and how many exist. It also measures what a
          request pays for this: recording the use of a session that was last used a
          minute ago.

          Every second session belongs to a signed-in user, one session for each user.
          Their last uses are spread evenly over a day, and all queries are made for the
          same moment of it, so the right answers are known. Each answer is checked: in
          SQL to the second, in Larder to a minute, or to an hour for periods over two
          hours, which is its documented accuracy.

          SQL has the table that an application would create: session_id, user_id, data,
          created_at, updated_at, with indexes on session_id (unique), user_id and
          updated_at, and hand-written SQL without a model. It is loaded in bulk, then
          indexed and analyzed. Servers run with their default settings, so each commit is
          written to disk; that is most of the time of recording a use.

          Loading a million sessions takes a minute or two and half a gigabyte of disk in
          each store. A full run takes about ten minutes.
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
