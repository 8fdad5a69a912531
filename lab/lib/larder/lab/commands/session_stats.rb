# frozen_string_literal: true

require_relative "suite"

module Larder
  module Lab
    module Commands
      # `larder-lab session-stats`: what questions about sessions cost.
      class SessionStats < Suite
        NAME = "session-stats"
        Commands.register(NAME, self)

        # One line for `larder-lab --help`.
        SUMMARY = "the cost of asking how many sessions are active and who is logged in"
        # The suites that it runs.
        SUITES = %w[session-questions].freeze
        # The first lines of --help.
        BANNER = <<~TEXT
          Usage: larder-lab session-stats [options]

          Asks stores with 10,000 sessions whether a user is logged in, when he was last
          seen, for his sessions, for the sessions that were active in the last five minutes
          and in the last day, and for all of them; and notes the use of a session. Half of
          the users have signed in, and their sessions were used within a day. Larder keeps
          an index of users and counters; an SQL table has indexes. Each answer is compared
          with the right one.
        TEXT
      end
    end
  end
end
