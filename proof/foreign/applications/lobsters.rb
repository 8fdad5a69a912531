# frozen_string_literal: true

require_relative "../application"
require_relative "../rspec_suite"
require_relative "lobsters_visits"

module Foreign
  # Lobsters: links, their comments and votes. It needs Ruby 3.4.
  class Lobsters < Application
    NAME = "lobsters"
    BRANCH = nil
    SUITE = RspecSuite
    VISITS = LobstersVisits
    COOKIE = { key: "lobster_trap", expire_after: 30 * 86_400, httponly: true, same_site: "lax" }.freeze
    # The session has a token of the user in its own place.
    USER_KEY = "u"
    # Lists are cached for 45 seconds, feeds for two minutes.
    STALE_SECONDS = 130

    # Short ids of new rows are random.
    VARYING = [[%r{((?:/|\b)(?:s|c|stories|comments|messages|story|comment)[/_])[a-z0-9]{6}\b}, "\\1ID"],
               [/((?:data-shortid|id|for|name|value|data-id)="(?:story_|c_|comment_folder_|reply_)?)[a-z0-9]{6}"/,
                "\\1ID\""],
               [/((?:id|name)="delete_)[a-z0-9]{6}"/, "\\1ID\""], [/data-at-unix="\d+"/, "data-at-unix=\"TIME\""],
               [/"short_id":"[a-z0-9]{6}"/, "\"short_id\":\"ID\""]].freeze

    TESTS = { "models" => ["spec/{models,helpers,jobs,extras,mailers,mailboxes,routing}/**/*_spec.rb"],
              "requests" => ["spec/{requests,controllers}/**/*_spec.rb"],
              "features" => ["spec/features/**/*_spec.rb"] }.freeze

    JOBS = [["rails", "runner", "FlaggedCommenters.new(\"1m\", 60).commenters"]].freeze

    # Rate limits are counted in a store of their own.
    SETTINGS_TOO = <<~RUBY
      config.after_initialize do
        if foreign.fetch(:side) == "larder"
          Rack::Attack.cache.store = ActiveSupport::Cache.lookup_store(
            :larder_store, File.join(directory, "cache.larder"), foreign.fetch(:cache).merge(namespace: "rack_attack")
          )
        end
      end
    RUBY

    # Each request seems to come from another address, so that rate limits count and do not refuse.
    #
    # @return [Hash{String => String}]
    def self.headers
      { "X-Forwarded-For" => "203.0.113.#{rand(1..254)}" }
    end

    # @param browser [Browser]
    # @return [String] the user, as larder sessions logout takes it
    def sign_in(browser)
      browser.get("/login")
      browser.post("/login", "email" => "reader8", "password" => "password8")
      Shell.output(["sqlite3", File.join(directory, "life/larder/primary.sqlite3"),
                    "select session_token from users where username = 'reader8'"]).strip
    end

    # @param browser [Browser]
    # @return [Boolean]
    def signed_in?(browser)
      browser.get("/settings").status == 200
    end

    # @param environment [String] of Rails
    # @return [Hash{String => String}] variables for its processes
    def variables(environment)
      super.merge("RAILS_SERVE_STATIC_FILES" => nil)
    end

    private

    # Its lock names another Ruby, and SQLite would be compiled of a source that is downloaded.
    def fetch
      super
      File.write(File.join(origin, ".ruby-version"), "#{RUBY_VERSION}\n")
      replace("Gemfile", ", force_ruby_platform: true", "")
      FileUtils.cp(File.join(origin, "config/database.yml.sample"), File.join(origin, "config/database.yml"))
      replace("config/database.yml", "database: storage/",
"database: <%= ENV.fetch(\"FOREIGN_DATABASE\", \"storage\") %>/")
      replace("config/database.yml", "timeout: 1000", "timeout: 120000")
      # Comments of the same confidence whose ids are 256 apart have no order of their own.
      ["confidence", "discussions"].each do |table|
        path = "#{table}.confidence_order_path"
        replace("app/models/comment.rb", "#{path}\")", "#{path}, comments.id\")")
      end
      File.write(File.join(origin, "config/cache.yml"), "\ntest:\n  <<: *default\n", mode: "a")
      File.write(File.join(origin, "Gemfile.lock"),
                 File.read(File.join(origin, "Gemfile.lock")).sub(/^RUBY VERSION\n.*\n+/, "").sub(
                   /^BUNDLED WITH\n.*\n/, ""
                 ))
    end

    def replace(file, old, new)
      path = File.join(origin, file)
      text = File.read(path)
      raise Shell::Failed, "#{file} of #{@source} has no #{old.inspect}" unless text.include?(old)

      File.write(path, text.gsub(old, new))
    end

    def databases
      rails("db:prepare", environment: "test") unless File.file?(File.join(origin, "db/test/primary.sqlite3"))
      super
    end

    def seed(database)
      env = { "FOREIGN_DATABASE" => database }
      rails("db:prepare", environment: "production", env: env)
      rails("runner", File.join(__dir__, "lobsters_seed.rb"), environment: "production", env: env)
      rails("assets:precompile", environment: "production", env: env)
    end
  end
end
