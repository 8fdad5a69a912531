# frozen_string_literal: true

require_relative "../application"
require_relative "redmine_visits"

module Foreign
  # Redmine: issues, wikis and boards of projects.
  class Redmine < Application
    NAME = "redmine"
    BRANCH = "6.0-stable"
    VISITS = RedmineVisits
    COOKIE = { key: "_redmine_session", path: "/", same_site: "lax" }.freeze
    # Its cookies are of Marshal, and it stores Hashes with Symbols, such as the filter of a list.
    SESSIONS = { serializer: "marshal" }.freeze
    # Results of searches, which Redmine recommends to keep in a shared store if there are several processes.
    MORE_CACHES = ["redmine_search_cache_store"].freeze
    # Names of forms are random, and each database has keys of feeds of its own.
    VARYING = [[/name="(\w[\w-]*)-\h{8}"/, "name=\"\\1\""], [/\bkey=\h{40}/, "key=KEY"]].freeze
    EMPTY = "Rails.cache.clear; Redmine::Search.cache_store.clear"
    JOBS = [["rake", "redmine:tokens:prune"]].freeze
    TESTS = { "integration" => ["test/integration/**/*_test.rb"],
              "functional" => ["test/functional/**/*_test.rb"],
              "unit" => ["test/unit/**/*_test.rb", "test/helpers/**/*_test.rb"] }.freeze

    DATABASES = <<~YAML
      production:
        adapter: sqlite3
        database: <%= File.expand_path("redmine.sqlite3", ENV.fetch("FOREIGN_DATABASE", "db")) %>
        timeout: 120000
        pool: 8
      test:
        adapter: sqlite3
        database: <%= File.expand_path("db/test.sqlite3") %>
        timeout: 120000
    YAML
    private_constant :DATABASES

    # Signs a user in. No other browser uses the account.
    #
    # @param browser [Browser]
    # @return [String] the user, as larder sessions logout takes it
    def sign_in(browser)
      browser.get("/login")
      browser.post("/login", "username" => "user8", "password" => "password8")
      browser.get("/my/page").body[%r{href="/users/(\d+)"}, 1].to_s
    end

    # @param browser [Browser]
    # @return [Boolean]
    def signed_in?(browser)
      browser.get("/my/page").status == 200
    end

    private

    def gemfile
      "Gemfile.local"
    end

    # Its Gemfile reads the names of adapters in this file.
    def fetch
      super
      File.write(File.join(origin, "config/database.yml"), DATABASES)
    end

    def databases
      rails("db:migrate", environment: "test") unless File.file?(File.join(origin, "db/test.sqlite3"))
      super
    end

    def seed(database)
      env = { "FOREIGN_DATABASE" => database, "FOREIGN_REPOSITORY" => File.join(directory, "repository") }
      FileUtils.rm_rf(env["FOREIGN_REPOSITORY"])
      rails("db:migrate", environment: "production", env: env)
      rails("runner", File.join(__dir__, "redmine_seed.rb"), environment: "production", env: env)
      rails("assets:precompile", environment: "production", env: env)
    end
  end
end
