# frozen_string_literal: true

# Declares the published comparison of session stores: pages of a real application, and the session's part of a request
# by itself.

require_relative "../sessions/stores"

module Larder
  module Lab
    module Suites
      # The pages of the published comparison, in its order, by the names of their blocks: path, whether each request
      # begins a session or brings one, and a note.
      PAGES = {
        "empty" => ["/empty/index", true, "a line of text, new session"],
        "welcome" => ["/welcome/index", true, "a page without a query, new session"],
        "index" => ["/rezept/index", false, "its body cached"],
        "name" => ["/rezept/myknzlpzl", false, "its body cached"],
        "show" => ["/rezept/show/713", false, "seven queries"],
        "category" => ["/rezept/cat/Hauptspeise", false, "a LIKE over text"],
        "category_page" => ["/rezept/cat/Hauptspeise?page=5", false, "a LIKE over text"],
        "letter" => ["/rezept/letter/G", false, "by an index"]
      }.freeze

      register("published-e", Bench::Suite.define("published-e") do
        title "Sessions"
        command "sessions", "the cost of sessions in Larder, SQL, memcached, Redis, files or cookies", <<~TEXT
          Requests the eight pages of the published comparison from a real application
          (examples/recipes), whose recipes and SQL sessions are in MariaDB, with its
          query cache off and on. Each store holds 10,000 sessions first. Two pages begin
          a session each time, the others read one. The session's part of a request is
          also measured alone: Rails' middleware around an endpoint that reads a value,
          changes one, or begins a session. Every answer is checked.
        TEXT
        question "How long does a request take with each session store?"
        registry Sessions::Stores
        companion "mariadb-query-cache"
        usual { %w[larder sql-mariadb activerecord-mariadb memcached redis] }
        answers "empty_off", "index_off", "unchanged"
        preload do
          require "rails"
          require "active_record/railtie"
          require "action_controller/railtie"
        rescue LoadError
          nil # the reference loop has a Gemfile without them; a row says so when it is opened
        end

        visit = proc { |scene, i| scene[:visit].call(i) }
        { unchanged: ["a session is read", "by the middleware alone, without an application"],
          changed: ["a value of a session is changed", "by the middleware alone"],
          new: ["a session begins", "by the middleware alone"],
          none: ["the same request without a session", "the part of the three before that is not the session's"] }
          .each do |key, (title, about)|
          block(key, title, unit: "request", about: about, call: visit) do
            setup { |scene| scene[:visit] = scene.contender.visitors.work(key) }
          end
        end

        %w[off on].each do |suffix|
          PAGES.each do |key, (path, begins, note)|
            block("#{key}_#{suffix}", "#{path}, query cache #{suffix}", short: "#{path}, #{suffix}", unit: "request",
                                                                        about: note, call: visit) do
              setup do |scene|
                scene.contender.application.query_cache(suffix.upcase)
                scene[:visit] = scene.contender.visitors.page(path, begins)
              end
            end
          end
        end
      end)
    end
  end
end
