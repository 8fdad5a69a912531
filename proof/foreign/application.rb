# frozen_string_literal: true

# An application that others wrote: fetches it, installs its gems and Larder, and makes copies of it that differ in
# their stores alone. Nothing of it is in this repository.

require "digest"
require "fileutils"
require "json"
require "rbconfig"
require_relative "../../rakelib/house/environment"
require_relative "shell"
require_relative "suite"

module Foreign
  # One application in a directory of its own. Subclasses say by constants how it differs from others: NAME, BRANCH,
  # COOKIE (of its sessions, as it configures them), TESTS (a group, and globs of files) and VISITS.
  class Application
    SETTINGS = File.join(__dir__, "settings.rb")
    # Initializers of a copy: its sessions are the last one.
    INITIALIZERS = { "sessions.rb" => "zz_foreign_sessions.rb", "record.rb" => "foreign_record.rb" }.freeze
    ENVIRONMENTS = ["test", "production"].freeze
    # How its tests run.
    SUITE = Suite
    # Options of Larder's sessions that it needs.
    SESSIONS = {}.freeze
    # Names of settings that hold further caches.
    MORE_CACHES = [].freeze
    # Where a session has its user, if Larder does not find it.
    USER_KEY = nil
    # More lines of its settings.
    SETTINGS_TOO = ""
    # Tests that differ by what they test: a pattern of their names, and why.
    EXPECTED = {}.freeze
    # For so long it may show lists from its cache that have changed.
    STALE_SECONDS = 2
    # Patterns of text that may differ in its pages, see Page::VARYING.
    VARYING = [].freeze
    # Empties its own caches, as Ruby that the application runs.
    EMPTY = "Rails.cache.clear"
    # Programs that cron would start, as arguments of bundle exec.
    JOBS = [].freeze
    # A console's work with the cache, as Ruby that the application runs.
    CONSOLE = <<~RUBY
      cache = Rails.cache
      abort "no value" unless cache.fetch("console/value") { "computed" } == "computed"
      cache.write("console/list", (1..50).map { |number| { number => "value " * 20 } }, expires_in: 600)
      abort "another list" unless cache.read("console/list").size == 50
      abort "a deleted value" if cache.delete("console/value") && cache.read("console/value")
    RUBY
    MARK = "\n# Stores of this copy.\nrequire_relative \"../foreign_settings\"\n"
    SECRET = "0123456789abcdef" * 8

    # @return [String] directory for all that is made
    attr_reader :directory

    # @param source [String] URL or path of the application's git repository
    # @param directory [String]
    # @param branch [String, nil] branch or tag; nil: BRANCH
    def initialize(source, directory:, branch: nil)
      @source = source
      @directory = directory
      @branch = branch || self.class::BRANCH
    end

    # @return [Hash{String => String}] headers of a request
    def self.headers
      { "Accept-Language" => "en" }
    end

    # Fetches and installs what is not there yet.
    #
    # @return [void]
    def prepare
      FileUtils.mkdir_p(directory)
      fetch unless File.directory?(origin)
      build_larder
      File.write(File.join(origin, gemfile), gems, mode: "a") unless whole_gemfile.include?(gems)
      configure(origin, side: "default", at: File.join(directory, "origin-files"))
      Shell.run(["bundle", "install", "--quiet"], dir: origin, env: variables("test"), log: log("bundle"))
      databases
    end

    # @return [String] the commit of the application
    def commit
      Shell.output(["git", "-C", origin, "log", "-1", "--format=%h of %cs"]).strip
    end

    # A copy of the application with stores of its own.
    #
    # @param name [String] of its directory
    # @param side [String] "default" or "larder"
    # @param files [String] directory of its caches; copies that name the same one share them
    # @param cache [Hash] options of Larder's store
    # @param sessions [Hash] options of Larder's sessions
    # @return [String] its path
    def copy(name, side:, files:, cache: {}, sessions: {})
      target = File.join(directory, name)
      FileUtils.rm_rf(target)
      Shell.run(["cp", "-a", origin, target])
      FileUtils.rm_rf(Dir[File.join(target, "{log,tmp}/*")])
      configure(target, side: side, at: files, cache: cache, sessions: sessions)
      target
    end

    # @param environment [String] of Rails
    # @return [Hash{String => String}] variables for its processes
    def variables(environment)
      House::Environment.variables(nil).merge(
        "BUNDLE_GEMFILE" => nil, "BUNDLE_PATH" => File.join(directory, "gems"), "BUNDLE_WITHOUT" => "development",
        "LARDER_SOURCE" => larder, "RAILS_ENV" => environment, "RACK_ENV" => environment,
        "SECRET_KEY_BASE" => SECRET, "TZ" => "UTC", "LANG" => "C.UTF-8", "RAILS_SERVE_STATIC_FILES" => "1",
        "RAILS_LOG_TO_STDOUT" => nil, "DISABLE_SPRING" => "1"
      )
    end

    # @return [String] the library with its extension, as a user's Bundler would build it
    def larder
      File.join(directory, "larder")
    end

    # @return [String] the untouched copy that others are made of
    def origin
      File.join(directory, "origin")
    end

    # @return [String] directory of the databases with the data of a life
    def seeded
      File.join(directory, "seeded")
    end

    private

    def databases
      return if File.directory?(seeded)

      FileUtils.rm_rf("#{seeded}.new")
      FileUtils.mkdir_p("#{seeded}.new")
      seed("#{seeded}.new")
      File.rename("#{seeded}.new", seeded)
    end

    def fetch
      Shell.run(["git", "clone", "--quiet", "--depth", "1", *(["--branch", @branch] if @branch), url, origin])
    end

    # Without file:// git would ignore the depth.
    def url
      File.directory?(@source) ? "file://#{File.expand_path(@source)}" : @source
    end

    # The gem as this Ruby compiles it, apart from the checkout: a change there changes no application that runs.
    def build_larder
      return if File.file?(built) && File.read(built) == digest

      FileUtils.rm_rf(larder)
      sources.each do |file|
        FileUtils.mkdir_p(File.dirname(File.join(larder, file)))
        FileUtils.cp(File.join(House::ROOT, file), File.join(larder, file), preserve: true)
      end
      build = File.join(larder, "tmp/build")
      FileUtils.mkdir_p(build)
      Shell.run([RbConfig.ruby, File.join(larder, "ext/larder/extconf.rb")], dir: build)
      Shell.run(["make", "--silent"], dir: build)
      FileUtils.cp(File.join(build, "larder.so"), File.join(larder, "lib/larder"))
      File.write(built, digest)
    end

    def built
      File.join(larder, ".built")
    end

    # @return [Array<String>] what the gem is made of, as relative paths
    def sources
      Dir["larder.gemspec", "*.md", "LICENSE", "{ext,lib,exe,engine/src,engine/include}/**/*", base: House::ROOT]
        .select { |file| File.file?(File.join(House::ROOT, file)) }.reject { |file| file.end_with?(".so") }.sort
    end

    # @return [String] of all sources, and of the Ruby that compiles them
    def digest
      Digest::SHA256.hexdigest([RUBY_VERSION, *sources.map { |file| File.binread(File.join(House::ROOT, file)) }].join)
    end

    # @return [String] lines for the application's Gemfile
    def gems
      <<~RUBY
        gem "larder", path: ENV.fetch("LARDER_SOURCE")
      RUBY
    end

    def whole_gemfile
      path = File.join(origin, gemfile)
      File.file?(path) ? File.read(path) : ""
    end

    def gemfile
      "Gemfile"
    end

    def configure(target, side:, at:, cache: {}, sessions: {})
      FileUtils.mkdir_p(at)
      text = File.read(SETTINGS).sub(/^  # MORE\n/) { self.class::SETTINGS_TOO.gsub(/^(?=.)/, "  ") }
      File.write(File.join(target, "config/foreign_settings.rb"), text)
      FileUtils.mkdir_p(File.join(target, "config/initializers"))
      INITIALIZERS.each do |file, name|
        FileUtils.cp(File.join(__dir__, file), File.join(target, "config/initializers", name))
      end
      settings = { side: side, directory: at, cache: cache, sessions: sessions, cookie: self.class::COOKIE,
                   more_caches: self.class::MORE_CACHES, user_key: self.class::USER_KEY }
      File.write(File.join(target, "config/foreign.json"), JSON.pretty_generate(settings))
      ENVIRONMENTS.each do |name|
        path = File.join(target, "config/environments/#{name}.rb")
        File.write(path, MARK, mode: "a") unless File.read(path).include?(MARK)
      end
    end

    # Runs a program of the application in the origin.
    def rails(*arguments, environment:, env: {})
      Shell.run(["bundle", "exec", "rails", *arguments], dir: origin, env: variables(environment).merge(env),
                                                         log: log("rails"))
    end

    def log(name)
      File.join(directory, "logs", "#{name}.log")
    end
  end
end
