# frozen_string_literal: true

# Ends a session of a user, or all of them, after a question.

require_relative "../audit"
require_relative "../session_source"

module Larder
  class Dashboard
    module Pages
      # GET asks, POST ends.
      class SignOut < Page
        # Its payload has `:user` (the name), `:handle` (nil: all sessions), `:count` and `:actor`.
        EVENT = "dashboard_sign_out.larder"
        private_constant :EVENT

        # @return [String]
        def title
          return handle ? "End this session?" : "Sign #{KeyText.shown(user)} out everywhere?" if @ended.nil?

          "#{Words.counted(@ended, "session")} #{@ended == 1 ? "was" : "were"} ended"
        end

        # @return [void]
        def submit
          SessionSource.new(visit.source).use do |statistics, settings|
            @copies = settings&.backed_by
            @ended, = Audit.new(visit).announce(EVENT, { user: user, handle: handle }) do
              next [statistics.logout(user)] unless handle

              [statistics.revoke(handle, of: user) ? 1 : 0]
            end
          end
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          html.section(class: ["card", *("notice" if @ended)]) do
            html.p { html.code(KeyText.shown(user), class: "key") }
            @ended ? done(html) : question(html)
          end
        end

        private

        def user
          @user ||= SessionSource.user(visit)
        end

        def handle
          given = visit.param("handle")
          given unless given.empty?
        end

        def question(html)
          html.p(handle ? "The session ends at once, also if a request is using it." : everywhere)
          html.p("A remember-me cookie of a gem may sign the user in again. The guide to sessions says how to end it.",
                 class: "small")
          posting(html, "sessions/end") do
            html.input(type: "hidden", name: "user", value: user)
            html.input(type: "hidden", name: "handle", value: handle) if handle
            html.p(class: "actions") do
              html.button(handle ? "End the session" : "Sign out", class: "button danger", type: "submit")
              html.a("Keep it", class: "button quiet", href: back)
            end
          end
        end

        def everywhere
          "All sessions of this user end at once, also those that requests are using."
        end

        def done(html)
          html.p("It may have ended since the question was asked.", class: "small") if @ended.zero?
          if @copies
            html.p("Copies are left in #{@copies}. The application's next requests delete them. If the file of " \
                   "sessions and its journal are lost before, the copies come back until they expire.", class: "small")
          end
          html.p(class: "actions") { html.a("Back to the user", class: "button quiet", href: back) }
        end

        def back
          path("sessions/user", user: user)
        end
      end
    end
  end
end
