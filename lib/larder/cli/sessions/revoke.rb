# frozen_string_literal: true

# Owns `larder sessions revoke`: ends the session that a handle names.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions revoke`: ends one session.
      class Revoke < Command
        Sessions.register("revoke", self)

        # What --help says.
        BANNER = <<~TEXT
          Usage: larder sessions revoke HANDLE [options]

          Ends one session of somebody's, also for requests that are at work on it.
          `larder sessions user ID` tells handles.
        TEXT

        private

        def words(rest)
          @handle = only(rest, "the HANDLE of a session")
        end

        def act
          revoked, settings = visit { |sessions| [sessions.revoke(@handle), sessions.settings] }
          machines = { revoked: revoked, copies_in: settings.backed_by }
          return tell(machines, "The session has ended.", *copies(settings)) if revoked

          say([JSON.generate(machines)]) if @json
          raise Failure, "no session has this handle. It has ended already, or the handle is another file's"
        end
      end
    end
  end
end
