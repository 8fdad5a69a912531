# frozen_string_literal: true

# Owns `larder sessions logout`: ends a user's sessions, or everybody's, and asks before it does the latter.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions logout`: ends a user's sessions, or everybody's.
      class Logout < Command
        Sessions.register("logout", self)

        BANNER = <<~TEXT
          Usage: larder sessions logout ID [--except HANDLE] [options]
                 larder sessions logout --all [--yes] [options]

          Ends the sessions of a user, or of everybody who is signed in, also for
          requests that are at work on them. Sessions in which nobody is signed in go on.
        TEXT
        private_constant :BANNER

        private

        def parser
          @parser ||= explained(BANNER) do |options|
            options.on("--except HANDLE", "of the session that goes on") { |handle| @except = handle }
            options.on("--all", "of everybody; asks first") { @all = true }
            options.on("--yes", "does not ask") { @yes = true }
          end
        end

        def words(rest)
          return @user = only(rest, "the ID of a user, or give --all") unless @all
          raise UsageError, "--all is everybody: #{rest.first}" if rest.any?
          raise UsageError, "--all is everybody, and --except of one user's sessions" if @except
        end

        def act
          @all ? log_out_all : log_out
        end

        def log_out
          ended, settings = visit do |sessions|
            [understood { sessions.logout(@user, except: @except) }, sessions.settings]
          end
          words = if ended.zero?
                    "#{@user} was not signed in#{" anywhere else" if @except}."
                  else
                    "#{Words.counted(ended, "session")} of #{@user} ended."
                  end
          tell({ user: @user, ended: ended, copies_in: settings.backed_by }, words, *copies(settings))
        end

        def log_out_all
          sure unless @yes
          ended, settings = visit { |sessions| [sessions.logout_all, sessions.settings] }
          tell({ ended: ended, copies_in: settings.backed_by },
               "#{Words.counted(ended, "session")} ended. Nobody is signed in who was before.", *copies(settings))
        end

        def sure
          unless @input.tty?
            raise UsageError, "logout --all asks in a terminal whether you are sure; elsewhere give --yes"
          end

          many = visit { |sessions| sessions.stats[:signed_in] }
          @err.puts("This ends #{Words.counted(many, "session")} in #{file}.")
          @err.ask("Everybody has to sign in again. Go on? [y/N]")
          raise Failure, "nobody was logged out" unless @input.gets.to_s.strip.match?(/\Ay(es)?\z/i)
        end
      end
    end
  end
end
