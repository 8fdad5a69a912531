# frozen_string_literal: true

# The page of sessions: how many there are, and who is signed in.

require_relative "../session_source"

module Larder
  class Dashboard
    module Pages
      # The figures of Sessions.stats, who is online if that is asked for, and a search for a user.
      class Sessions < Page
        # Seconds of the choices of "who is online".
        WINDOWS = { "300" => "5 minutes", "3600" => "hour", "86400" => "day" }.freeze
        MOST_USERS = 100
        # Seconds that reading the sessions may take. One takes some 10 to 20 µs.
        PATIENCE = 2
        # Room for signed-in sessions: from then on sign-ins are about to be refused.
        NEARLY = ::Larder::Sessions::Room::NEARLY
        private_constant :WINDOWS, :MOST_USERS, :PATIENCE, :NEARLY

        # @param visit [Visit]
        # @return [Boolean] is there anything to show?
        def self.listed?(visit)
          SessionSource.new(visit.source).any?
        end

        # @return [String]
        def title
          "Sessions"
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          SessionSource.new(visit.source).use do |statistics|
            @statistics = statistics
            place(html)
            numbers(html)
            online(html)
            search(html)
          end
        end

        private

        def place(html)
          html.p(class: "subject") { html.code(Remedy.shown(@statistics.place)) }
        end

        # ---- figures ----

        def numbers(html)
          stats = @statistics.stats
          full(html, stats[:full]) if stats.key?(:full)
          html.section(class: "card", aria: { labelledby: "numbers" }) do
            html.h2("Numbers", id: "numbers")
            facts(html, [*alive(stats), *active(stats), *room(stats)])
            html.p(lives, class: "small")
          end
        rescue ::Larder::Sessions::UnsupportedError => error
          html.p("#{error.message}.", class: "card")
        end

        def alive(stats)
          return [] unless stats.key?(:sessions)

          [["Sessions", Words.count(stats[:sessions])], ["Signed in", Words.count(stats[:signed_in])],
           ["Anonymous", Words.count(stats[:anonymous])]]
        end

        def active(stats)
          { "minute" => :active_1m, "5 minutes" => :active_5m, "hour" => :active_1h, "day" => :active_1d }
            .map { |time, key| ["Active in the last #{time}", Words.count(stats[key])] }
        end

        def room(stats)
          return [] unless stats.key?(:full)

          [["Room for signed-in sessions", "#{Words.percent(stats[:full])}, " \
                                           "#{Words.bytes_of(stats[:pinned_bytes], stats[:pinned_room_bytes])}"],
           ["Evicted", Words.count(stats[:evictions])]]
        end

        def full(html, share)
          return if share < NEARLY

          html.section(class: "card problem") do
            html.h2("Nearly full")
            html.p("Sign-ins are refused (503) from 90 % on. Let sessions end earlier, or stop the application, give " \
                   "it a larger size:, and")
            path = @statistics.file
            html.p { html.code(::Larder::Sessions::Enlarging.command(path, File.size(path)), class: "command") }
          end
        end

        def lives
          idle, anonymous, max = @statistics.lifetimes.then { |lives| [lives.idle, lives.anonymous, lives.max] }
          "A session #{idle ? "ends after #{Words.span(idle)} without use" : "may be unused for ever"}" \
            "#{", an anonymous one #{idle ? "after" : "for"} #{Words.span(anonymous)}" if anonymous}" \
            "#{", and #{"ends " unless idle}#{Words.span(max)} after it began" if max}."
        end

        # ---- who is online ----

        def online(html)
          chosen = visit.param("online")
          html.section(class: "card", aria: { labelledby: "online" }) do
            html.h2("Who is online", id: "online")
            links = WINDOWS.to_h { |seconds, text| ["In the last #{text}", path("sessions", online: seconds)] }
            choices(html, "Time", links, "In the last #{WINDOWS[chosen]}")
            next users(html, chosen) if WINDOWS.key?(chosen)

            html.p("Each of these reads all sessions, for #{Words.counted(PATIENCE, "second")} at most: 100,000 take " \
                   "about a second.", class: "small")
          end
        end

        def users(html, chosen)
          text = WINDOWS.fetch(chosen)
          found, read, whole = @statistics.online_within(PATIENCE, last: chosen.to_i, limit: MOST_USERS)
          return html.p("No user was active in the last #{text}.", class: "empty") if found.empty? && whole

          table(html, "Users who were active in the last #{text}",
                [column("User") { |out, (user, _)| out.a(shown(user), href: path("sessions/user", user: user)) },
                 column("Last active", sort: ->((_, at)) { at.to_f }) { |_, (_, at)| ago(at) }], found.to_a)
          notes(html, found, read, whole)
        rescue ::Larder::Sessions::UnsupportedError => error
          html.p("#{error.message}.", class: "empty")
        end

        def notes(html, found, read, whole)
          html.p("The first #{MOST_USERS} are shown.", class: "small") if found.size == MOST_USERS
          return if whole

          html.p("The time was over after #{Words.counted(read, "session")}: there may be more users.", class: "small")
        end

        def shown(user)
          KeyText.shown(user)
        end

        def ago(time)
          seconds = (Time.now - time).to_i
          seconds < 60 ? "now" : "#{Brief.span(seconds)} ago"
        end

        # ---- a user ----

        def search(html)
          html.form(class: "card search", method: "get", action: path("sessions/user")) do
            html.div(class: "wide") do
              html.label("The sessions of a user: the id of a User (42), or a class and an id (Admin/7)", for: "user")
              html.input(type: "text", id: "user", name: "typed", required: true, autocomplete: "off",
                         autocapitalize: "off", spellcheck: "false")
            end
            html.button("Show", class: "button quiet", type: "submit")
          end
        end
      end
    end
  end
end
