# frozen_string_literal: true

# `larder sessions logout`: ends a user's sessions, or those of all users after a question.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions logout`.
      class Logout < Command
        Sessions.register("logout", self)

        BANNER = <<~TEXT
          Usage: larder sessions logout ID [options]
                 larder sessions logout --all [--yes] [options]

          Ends the sessions of a user, or of all users, even if requests are using them.
          Anonymous sessions stay. ID is the id of a User (42), or another class and an id
          (Admin/7).
        TEXT
        private_constant :BANNER

        private

        def parser
          @parser ||= explained(BANNER) do |options|
            options.on("--all", "all users; asks first") { @all = true }
            yes(options)
          end
        end

        def operands(rest)
          @user, more = rest
          raise UsageError, "--all is everybody: #{@user}" if @all && @user
          raise UsageError, "name the ID of a user, or give --all" unless @all || @user
          raise UsageError, "name the ID of a user, and nothing else: #{more}" if more
        end

        def act
          @all ? log_out_all : log_out
        end

        def log_out
          count, settings = visit { |statistics, settings| [statistics.logout(@user), settings] }
          sentence = "#{Words.counted(count, "session")} of #{@user} ended."
          sentence = "#{@user} was not signed in." if count.zero?
          ended(count, settings, sentence, user: @user)
        rescue ::Larder::InvalidArgument => error
          raise UsageError, error.message
        end

        def log_out_all
          confirm("logout --all", :signed_in, "All users have to sign in again.")
          count, settings = visit { |statistics, settings| [statistics.logout_all, settings] }
          ended(count, settings, "#{Words.counted(count, "session")} ended. All users have to sign in again.")
        end
      end
    end
  end
end
