# frozen_string_literal: true

# Owns `larder sessions clear-anonymous`: ends the sessions in which nobody is signed in.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions clear-anonymous`: ends the sessions in which nobody is signed in.
      class ClearAnonymous < Command
        Sessions.register("clear-anonymous", self)

        # What --help says.
        BANNER = <<~TEXT
          Usage: larder sessions clear-anonymous [options]

          Ends all sessions in which nobody is signed in, and what is in them: carts,
          settings, forms that are filled in. Who is signed in stays so.
        TEXT

        private

        def act
          ended, settings = visit { |sessions| [sessions.clear_anonymous, sessions.settings] }
          tell({ ended: ended, copies_in: settings.backed_by },
               "#{Words.counted(ended, "anonymous session")} ended.", *copies(settings))
        end
      end
    end
  end
end
