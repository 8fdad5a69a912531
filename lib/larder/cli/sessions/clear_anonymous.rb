# frozen_string_literal: true

# `larder sessions clear-anonymous`: ends the sessions in which nobody is signed in, after a question.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions clear-anonymous`.
      class ClearAnonymous < Command
        Sessions.register("clear-anonymous", self)

        BANNER = <<~TEXT
          Usage: larder sessions clear-anonymous [--yes] [options]

          Ends all sessions in which nobody is signed in. Their contents are lost: carts,
          settings, half-filled forms. Users stay signed in. It asks first.
        TEXT
        private_constant :BANNER

        private

        def parser
          @parser ||= explained(BANNER) { |options| yes(options) }
        end

        def act
          confirm("clear-anonymous", :anonymous, "Their contents are lost, such as carts and forms.")
          count, settings = visit { |statistics, settings| [statistics.clear_anonymous, settings] }
          ended(count, settings, "#{Words.counted(count, "anonymous session")} ended.")
        end
      end
    end
  end
end
