# frozen_string_literal: true

# The page of a user's sessions.

require_relative "../session_source"

module Larder
  class Dashboard
    module Pages
      # When each began and was last used, and the browser, if the application stores that. No other contents.
      class UserSessions < Page
        MOST = 200
        # The key under which the guide has applications store the browser, and characters of it that are shown.
        AGENT = "agent"
        LONGEST = 200
        private_constant :MOST, :AGENT, :LONGEST

        # @return [String]
        def title
          "Sessions of #{KeyText.shown(user)}"
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          SessionSource.new(visit.source).use do |statistics|
            found = statistics.for(user)
            html.section(class: "card") do
              found.empty? ? nothing(html, statistics) : sessions(html, found)
              html.p(class: "actions") { html.a("To the sessions", class: "button quiet", href: path("sessions")) }
            end
          end
        end

        private

        def user
          @user ||= SessionSource.user(visit)
        end

        def nothing(html, statistics)
          seen = statistics.last_seen(user)
          html.p("This user is not signed in#{seen ? ", and was last active #{moment(seen)}" : ""}.", class: "empty")
        end

        def sessions(html, found)
          table(html, "Sessions of #{KeyText.shown(user)}", columns, found.first(MOST))
          html.p("#{MOST} of #{Words.count(found.size)} are shown.", class: "small") if found.size > MOST
          return if read_only?

          html.p(class: "actions") do
            html.a("Sign out everywhere…", class: "button danger", href: path("sessions/end", user: user))
          end
        end

        def columns
          columns = [column("Last used", sort: ->(info) { info.used_at.to_f }) { |_, info| moment(info.used_at) },
                     column("Began", sort: ->(info) { info.began_at.to_f }) { |_, info| moment(info.began_at) },
                     column("Browser") { |out, info| out.span(agent(info), class: "long") },
                     column("Also signed in") { |out, info| out.span(others(info), class: "long") }]
          return columns if read_only?

          columns << column("End") do |out, info|
            out.a("End…", class: "button quiet", href: path("sessions/end", user: user, handle: info.handle))
          end
        end

        def moment(time)
          time.strftime("%-d %b %Y %H:%M")
        end

        def others(info)
          others = info.users - [user]
          others.empty? ? "–" : others.map { |other| KeyText.shown(other) }.join(", ")
        end

        # A session may be unreadable here, as one of serializer: :marshal is in another program.
        def agent(info)
          agent = info[AGENT]
          agent.is_a?(String) && !agent.empty? ? KeyText.shown(agent[0, LONGEST]) : "–"
        rescue ::Larder::Sessions::UnreadableError
          "–"
        end
      end
    end
  end
end
