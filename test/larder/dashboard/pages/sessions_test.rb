# frozen_string_literal: true

require "active_support/cache/larder_store"
require "digest"
require "larder/sessions"
require "support/dashboard_case"
require "support/dashboard_tables"

module Larder
  class Dashboard
    module Pages
      # The pages of sessions: the numbers, those of a user, and the way to end them.
      class SessionsTest < DashboardCase
        include DashboardTables

        setup do
          @sessions = ::Larder::Sessions.repository(file: path_of("sessions"), size: 1 << 20, ephemeral: true)
          @sessions.index.announce # as the middleware does
          ::Larder::Sessions.use(@sessions)
        end

        def enter(name, user, more = {})
          assert @sessions.begin(Digest::SHA256.digest(name), { "user_id" => user, **more }.compact)
        end

        def users_of(id)
          ::Larder::Sessions.for(id)
        end

        test "numbers of the application's sessions are shown" do
          enter("a", 7)
          enter("b", nil, "cart" => [1])
          page("sessions")
          assert_match(/Sessions 2 .*Signed in 1 .*Anonymous 1 .*Active in the last minute 2/, main)
          assert_includes main, "A session ends after 30 days without use, an anonymous one after 1 day."
          assert_includes navigation, "Sessions"
        end

        test "a session without an idle_timeout: does not end at once" do
          enter("a", 7)
          options = { size: 1 << 20, ephemeral: true, idle_timeout: nil, max_lifetime: 86_400 }
          ::Larder::Sessions.use(::Larder::Sessions.repository(file: path_of("sessions"), **options))
          page("sessions")
          assert_includes main, "A session may be unused for ever, an anonymous one for 1 day, and ends 1 day after it"
        end

        test "users who are online are read only if that is asked for" do
          enter("a", 7)
          enter("b", "<i>")
          page("sessions")
          assert_no_match(%r{User/7}, main)
          follow("In the last 5 minutes")
          assert_equal [["User/7", "now"], ["User/<i>", "now"]],
                       rows_of("Users who were active in the last 5 minutes").sort
          follow("User/<i>")
          assert_equal "Sessions of User/<i>", document.at_css("h1").text
          page("sessions", online: "-1")
          assert_empty document.css("table")
        end

        test "a user whose id ends with a space is not another user" do
          enter("a", "bob ")
          enter("b", "bob")
          page("sessions", online: "300")
          follow("User/bob ")
          assert_equal 1, rows_of("Sessions of User/bob ").size
          follow("Sign out everywhere…")
          press("Sign out")
          assert_equal [0, 1], [users_of("bob ").size, users_of("bob").size]
        end

        test "a walk that takes too long says how far it came" do
          enter("a", 7)
          statistics = ::Larder::Sessions::Statistics.new(@sessions)
          assert_equal [{}, 0, false], statistics.online_within(0, last: 300)
          found, read, whole = statistics.online_within(60, last: 300)
          assert_equal [["User/7"], 1, true], [found.keys, read, whole]
        end

        test "a user's sessions are shown with the browser, and with no other contents" do
          enter("a", 7, "agent" => "Firefox", "card" => "4111")
          enter("b", 7, "agent" => ["not a text"])
          page("sessions")
          page("sessions/user", typed: " 7 ")
          rows = rows_of("Sessions of User/7")
          sorts = document.css("table.rows [data-sort]").map { |cell| cell["data-sort"].to_f }
          assert_equal 4, sorts.size
          assert(sorts.all? { |number| (Time.now.to_f - number).between?(-1, 60) })
          assert_equal %w[Firefox –], rows.map { |row| row[2] }.sort
          assert_no_match(/4111|not a text/, last_response.body)
          page("sessions/user", user: "Admin/1")
          assert_includes main, "This user is not signed in."
        end

        test "one session is ended, after a question" do
          enter("a", 7, "agent" => "Firefox")
          enter("b", 7)
          page("sessions/user", user: "7")
          link = document.css("tbody tr").find { |row| row.text.include?("Firefox") }.at_css("a")
          get(link["href"])
          assert_equal 2, users_of(7).size
          events = events_of { press("End the session") }
          assert_equal "1 session was ended", document.at_css("h1").text
          assert_equal [nil], users_of(7).map { |info| info["agent"] }
          assert_equal [{ user: "User/7", count: 1, actor: nil }], events.map { |event| event.except(:handle) }
          assert_match(/\A[\w-]+\.\h{32}\z/, events.first[:handle])
        end

        test "a user is signed out everywhere, and others stay" do
          enter("a", 7)
          enter("b", 7)
          enter("c", 8)
          use(cache: path_of, actor: :ip.to_proc)
          page("sessions/user", user: "7")
          follow("Sign out everywhere…")
          assert_equal [{ user: "User/7", handle: nil, count: 2, actor: "127.0.0.1" }], events_of { press("Sign out") }
          assert_includes main, "Back to the user"
          assert_equal [0, 1], [users_of(7).size, users_of(8).size]
        end

        test "a handle of another user ends nothing" do
          enter("a", 7)
          enter("b", 8)
          page("sessions/end", user: "7", handle: users_of(8).first.handle)
          press("End the session")
          assert_equal "0 sessions were ended", document.at_css("h1").text
          assert_equal 1, users_of(8).size
        end

        test "a form without its token, and a read-only dashboard, end nothing" do
          enter("a", 7)
          page("sessions/end", user: "7")
          [nil, "0" * 64].each { |token| assert_equal 403, send_form("sessions/end", token: token, user: "7").status }
          use(cache: path_of, read_only: true)
          page("sessions/user", user: "7")
          assert_no_match(/Sign out|End…/, main)
          get("/larder/sessions/end", user: "7")
          assert_equal 404, last_response.status
          post("/larder/sessions/end", { user: "7" })
          assert_equal [404, 1], [last_response.status, users_of(7).size]
        end

        test "users and handles that are none are explained" do
          enter("a", 7)
          ["", "\0", "Admin/", "a" * 5000, "\xff", HOSTILE, "User/%zz"].each do |given|
            %w[sessions/user sessions/end].each do |path|
              get("/larder/#{path}", user: given, handle: "x.y")
              assert_includes [200, 422], last_response.status, given.inspect
              assert_no_match(/<script>/, last_response.body)
            end
          end
          get("/larder/sessions/user", user: "Admin/")
          assert_match(/This user is not signed in/, main)
          ["", ["a"]].each do |none|
            page("sessions/user", user: none)
            assert_includes main, "No user is named"
          end
        end

        test "the file of sessions that the dashboard was given is shown" do
          enter("a", 7)
          ::Larder::Sessions.use(nil)
          use(cache: path_of("sessions"))
          page("sessions")
          assert_match(/Sessions 1 /, main)
          page("sessions/end", user: "7")
          press("Sign out")
          assert_empty ::Larder::Sessions::Statistics.new(@sessions).for(7)
        end

        test "an application without Larder's sessions gets an explanation" do
          ::Larder::Sessions.use(nil)
          page("sessions")
          assert_includes main, "config.session_store :larder_store"
          assert_not_includes navigation, "Sessions"
          page("sessions/user", user: "7")
          assert_equal "There are no sessions to show", document.at_css("h1").text
        end

        test "a file of sessions that is not there is not created" do
          ::Larder::Sessions.use(::Larder::Sessions.repository(file: path_of("later"), ephemeral: true))
          page("sessions")
          assert_equal "There are no sessions yet", document.at_css("h1").text
          assert_not File.exist?(path_of("later"))
        end

        test "a file of sessions that cannot be made is not promised" do
          file = path_of("none/sessions")
          File.write(path_of("none"), "a file")
          ::Larder::Sessions.use(::Larder::Sessions.repository(file: file, ephemeral: true))
          get("/larder/sessions")
          assert_equal [503, "The sessions have no file"], [last_response.status, document.at_css("h1").text]
          assert_includes main, "larder doctor #{file}"
        end

        test "a file of sessions that cannot be used is named with its doctor, and the cache is not" do
          file = path_of("broken")
          FileUtils.mkdir_p(file)
          ::Larder::Sessions.use(::Larder::Sessions.repository(file: file, ephemeral: true))
          [["sessions", {}], ["sessions/user", { user: "7" }]].each do |path, params|
            get("/larder/#{path}", params)
            assert_equal 503, last_response.status
            assert_equal "The sessions cannot be used", document.at_css("h1").text
            assert_includes main, "larder doctor #{file}"
            assert_not_includes main, path_of("cache.larder")
          end
        end

        test "sessions in a store that cannot count or list them are explained" do
          ::Larder::Sessions.use(::Larder::Sessions.repository(cache: [:file_store, path_of("store")]))
          page("sessions")
          assert_includes main, "Active in the last minute 0"
          page("sessions", online: "300")
          assert_match(/FileStore/, main)
        end

        private

        def events_of(&block)
          events = []
          noting = ->(event) { events << event.payload }
          ActiveSupport::Notifications.subscribed(noting, "dashboard_sign_out.larder", &block)
          events
        end
      end
    end
  end
end
