# frozen_string_literal: true

require_relative "../visits"

module Foreign
  # A user of Redmine.
  class RedmineVisits < Visits
    STEPS = { home: 2, issues: 6, issue: 8, wiki: 5, activity: 2, search: 2, news: 2, board: 3, diff: 3, filter: 3,
              sessions_filter: 3, parts: 3, account: 2, reports: 1, feeds: 1, new_issue: 2, note: 3, edit_wiki: 2,
              reply: 1, log_time: 1, sign_in_again: 1 }.freeze
    PROJECTS = ["shop1", "shop2", "shop3", "shop4"].freeze
    PAGES = ["Wiki", "Guide", "Plan", "Notes"].freeze
    ISSUES = 120
    USERS = 8

    def sign_in
      change do
        get("/login")
        page = post("/login", "username" => "user#{number}", "password" => "password#{number}",
"back_url" => "/my/page")
        raise "user#{number} could not sign in: #{page.status}" unless page.status == 302
      end
      raise "user#{number} is not signed in" unless get("/my/page").status == 200
    end

    def home
      get(pick(["/", "/projects", "/my/page", "/projects/#{project}", "/projects/#{project}/roadmap",
                "/users/#{user_id}"]))
    end

    def issues
      get(pick(["/projects/#{project}/issues?set_filter=1", "/issues?set_filter=1&sort=priority:desc,id:desc",
                "/issues?set_filter=1&per_page=50&page=2",
                "/projects/#{project}/issues/gantt?set_filter=1&year=2026&month=11",
                "/projects/#{project}/issues/calendar?set_filter=1&year=2026&month=11"]))
    end

    def issue
      get("/issues/#{issue_id}")
    end

    def wiki
      get("/projects/#{project}/wiki/#{pick(PAGES)}#{pick(["", "", "", "/history"])}")
    end

    def activity
      get("/projects/#{project}/activity?from=2026-11-20")
    end

    # The first has no page and is never cached; the results of a page are.
    def search
      change do
        word = pick(["shard", "reader", "deploy", "queue"])
        get("/search?q=#{word}&all_words=1&scope=all")
        get("/search?q=#{word}&all_words=1&scope=all&page=2")
      end
    end

    def news
      get(pick(["/news", "/projects/#{project}/news", "/news/#{1 + pair.random.rand(12)}"]))
    end

    def board
      get(pick(["/projects/#{project}/boards", "/boards/#{1 + pair.random.rand(4)}/topics/#{topic}"]))
    end

    def diff
      change { diffs.each { |path| get(path) if chance(2) } }
    end

    # Redmine keeps the filter of a list in the session.
    def filter
      change do
        get("/projects/#{project}/issues?set_filter=1&f[]=status_id&op[status_id]=*&c[]=subject&group_by=priority")
        get("/issues/#{issue_id}")
      end
    end

    def sessions_filter
      get("/projects/#{project}/issues")
    end

    # All of one project: Redmine remembers the order in which a user has seen projects.
    def parts
      number = 1 + pair.random.rand(4)
      pair.together("/issues/#{number + 40}", "/projects/shop#{number}/wiki/Wiki", "/projects/shop#{number}/news")
    end

    def account
      get("/my/account")
      change do
        post("/my/account", "_method" => "put", "user[language]" => "en", "pref[hide_mail]" => number.odd? ? "1" : "0",
                            "pref[time_zone]" => "")
      end
    end

    def reports
      get(pick(["/projects/#{project}/issues/report", "/projects/#{project}/time_entries",
                "/projects/#{project}/settings",
                "/projects/#{project}/time_entries/report?criteria[]=user"]))
    end

    def feeds
      get(pick(["/projects/#{project}/issues.csv?set_filter=1", "/issues.json?limit=20", "/issues/#{issue_id}.json",
                "/projects/#{project}/wiki/index"]))
    end

    def new_issue
      name = project
      change do
        get("/projects/#{name}/issues/new")
        page = post("/projects/#{name}/issues", "issue[tracker_id]" => "1", "issue[subject]" => "New #{words(3)}",
                                                "issue[description]" => words(600), "issue[priority_id]" => "2")
        get(page.location) if page.status == 302
      end
    end

    def note
      id = issue_id
      change do
        get("/issues/#{id}")
        post("/issues/#{id}", "_method" => "patch", "issue[notes]" => words(500))
        get("/issues/#{id}")
      end
    end

    def edit_wiki
      path = "/projects/#{project}/wiki/#{pick(PAGES)}"
      change do
        version = get("#{path}/edit").body[/<input[^>]*name="content\[version\]"[^>]*>/]
        post(path, "_method" => "put", "content[version]" => version.to_s[/value="(\d+)"/, 1].to_s,
                   "content[text]" => "# Edited\n\n#{words(700)}", "content[comments]" => "by user#{number}")
        get(path)
      end
    end

    def reply
      board = 1 + pair.random.rand(4)
      parent = ((board - 1) * 4) + 1
      change do
        get("/boards/#{board}/topics/#{parent}")
        post("/boards/#{board}/topics/#{parent}/replies", "reply[subject]" => "RE: Topic",
"reply[content]" => words(400))
        get("/boards/#{board}/topics/#{parent}")
      end
    end

    def log_time
      change do
        get("/issues/#{issue_id}/time_entries/new")
        post("/time_entries", "time_entry[issue_id]" => issue_id.to_s, "time_entry[hours]" => "1.5",
                              "time_entry[activity_id]" => "9", "time_entry[spent_on]" => "2026-11-02")
      end
    end

    # The sign-out must hold, too.
    def sign_in_again
      change do
        get("/my/page")
        post("/logout", {})
        get("/my/page")
      end
      sign_in
    end

    private

    def project
      pick(PROJECTS)
    end

    def issue_id
      1 + pair.random.rand(ISSUES)
    end

    def user_id
      5 + pair.random.rand(USERS - 4)
    end

    def topic
      1 + pair.random.rand(16)
    end

    def words(count)
      Array.new(count) { pick(["cache", "reader", "shard", "queue", "writer", "release"]) }.each_slice(10).map do |line|
        line.join(" ")
      end.join("\n")
    end

    def diffs
      @diffs ||= get("/projects/shop1/repository/main").body.scan(%r{/projects/\w+/repository/main/revisions/\w+}).uniq
                                                     .first(6).map do |path|
        "#{path}/diff"
      end
    end
  end
end
