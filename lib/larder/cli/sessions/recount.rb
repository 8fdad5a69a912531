# frozen_string_literal: true

# Owns `larder sessions recount`: counts activity anew.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions recount`: counts activity anew.
      class Recount < Command
        Sessions.register("recount", self)

        # What --help says.
        BANNER = <<~TEXT
          Usage: larder sessions recount [options]

          Counts sessions and activity anew, which looks at every session. It is done
          without being asked for where a process was killed; sessions that come and go
          meanwhile may be miscounted.
        TEXT

        private

        def act
          stats = visit do |sessions|
            sessions.recount
            sessions.stats.slice(:sessions, :signed_in, :anonymous)
          end
          tell(stats, "Counted anew: #{Words.counted(stats[:sessions], "session")}, " \
                      "#{Words.count(stats[:signed_in])} signed in, #{Words.count(stats[:anonymous])} anonymous.")
        end
      end
    end
  end
end
