# frozen_string_literal: true

require_relative "../visits"

module Foreign
  # A reader of Lobsters.
  class LobstersVisits < Visits
    STEPS = { lists: 8, story: 10, tag: 3, user: 3, tree: 2, own: 3, feeds: 2, search: 1, parts: 3, moderations: 2,
              comment: 3, vote: 3, save: 2, message: 1, new_story: 1, settings: 1, sign_in_again: 1 }.freeze
    # Ids of stories that users submit differ between the sides.
    SEEDED = %r{href="(/s/[a-z0-9]{6})/(?!new_)}
    # Stories that a user reads, and pages on which they are looked for.
    STORIES = 30
    PAGES = 40
    # A deleted story has no form. A comment on it would be answered with 500, on any store.
    COMMENT_FORM = /name="[^"]*story_id[^"]*"/
    LISTS = ["/", "/page/2", "/active", "/newest", "/recent", "/top", "/top/1w", "/comments", "/newest/page/2",
             "/tags"].freeze

    def sign_in
      change do
        get("/login")
        page = post("/login", "email" => "reader#{number}", "password" => "password#{number}")
        raise "reader#{number} could not sign in: #{page.status}" unless page.status == 302
      end
      raise "reader#{number} is not signed in" unless get("/settings").status == 200

      look_around unless @stories
    end

    def lists
      get(pick(LISTS))
    end

    def story
      get(a_story)
    end

    def tag
      get(@tags.empty? ? "/tags" : pick(@tags))
    end

    def user
      get("/~reader#{1 + pair.random.rand(8)}#{pick(["", "/threads", "/standing"])}")
    end

    # Fragments and a query that are cached.
    def tree
      get(pick(["/users", "/users?by=karma", "/stats", "/hats"]))
    end

    def own
      get(pick(["/inbox/all", "/saved", "/upvoted/stories", "/threads", "/messages/sent", "/settings", "/filters"]))
    end

    def feeds
      get(pick(["/rss", "/comments.rss", "/hottest.json", "/newest.json", "#{a_story}.json"]))
    end

    def search
      get("/search?q=#{pick(["dolor", "quia", "voluptas"])}&what=comments&order=newest")
    end

    def parts
      pair.together("/", a_story, "/inbox/unread")
    end

    def moderations
      get(pick(["/moderations", "/moderations/page/2", "/moderations?moderator=%28All%29&what%5Bstories%5D=stories"]))
    end

    def comment
      path = a_story
      change do
        next unless get(path).body.match?(COMMENT_FORM)

        post("/comments", "story_id" => path[-6..], "comment" => words(60))
        get(path)
      end
    end

    def vote
      path = a_story
      change do
        get(path)
        post("/stories/#{path[-6..]}/upvote", {})
        get(path)
      end
    end

    def save
      path = a_story
      change do
        get(path)
        post("/stories/#{path[-6..]}/#{pick(["save", "unsave"])}", {})
        get("/saved")
      end
    end

    def message
      change do
        get("/messages")
        post("/messages", "message[recipient_username]" => "reader#{1 + pair.random.rand(8)}",
                          "message[subject]" => words(3), "message[body]" => words(50))
        get("/messages/sent")
      end
    end

    def new_story
      change do
        get("/stories/new")
        post("/stories", "story[title]" => "New #{words(4)}", "story[description]" => words(80),
"story[tags][]" => "test")
      end
    end

    def settings
      change do
        get("/settings")
        post("/settings", "user[about]" => words(10), "user[homepage]" => "", "user[username]" => "reader#{number}",
                          "user[email]" => "reader#{number}@example.net", "user[password]" => "",
                          "user[password_confirmation]" => "",
                          "current_password" => "password#{number}")
        get("/settings")
      end
    end

    def sign_in_again
      change do
        get("/settings")
        post("/logout", {})
        get("/settings")
      end
      sign_in
    end

    private

    # A user who comes late finds stories that users have submitted on the first pages.
    def look_around
      @tags = get("/newest").body.scan(%r{href="(/t/[a-z]+)"}).flatten.uniq
      found = []
      (1..PAGES).each do |page|
        found |= get("/newest/page/#{page}").body.scan(SEEDED).flatten if found.size < STORIES
      end
      raise "no story on the first #{PAGES} pages of /newest was there before the users" if found.empty?

      @stories = found.first(STORIES)
    end

    def a_story
      pick(@stories)
    end

    def words(count)
      Array.new(count) { pick(["cache", "reader", "shard", "queue", "writer", "release"]) }.join(" ")
    end
  end
end
