# frozen_string_literal: true

# Builds both gems, installs them into an empty directory and runs them from another empty one: what a user gets, with
# nothing of this checkout in reach. Prints a line for each check and the counts.
#
# Dependencies come from the gems that Bundler has already fetched, so this needs no network.
#
# Run as a program: ruby rakelib/house/packages.rb

require "fileutils"
require "open3"
require "rubygems/package"
require "tmpdir"
require_relative "environment"
require_relative "counts"

module House
  # Both gems on their way to a user.
  class Packages
    # gemspec, patterns of files that the gem must have all of, files that it must not have
    GEMS = {
      "larder.gemspec" => {
        needed: ["exe/larder", "ext/larder/**/*.{c,h,rb}", "engine/{src,include}/**/*.{c,h}", "lib/**/*.rb",
                 "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"],
        unwanted: %r{\A(?:test|lab(?!/README\.md\z)|vendor|tmp|engine/(?:test|bench|build)|bin|rakelib)/|
                     \.(?:so|bundle|o|larder)\z}x
      },
      "lab/larder-lab.gemspec" => {
        needed: ["exe/larder-lab", "lib/**/*.rb"],
        unwanted: %r{\A(?:test|vendor|tmp)/|\.(?:so|bundle|o|larder)\z}
      }
    }.freeze

    CACHE = <<~RUBY
      require "larder"
      Larder::Cache.open("cache.larder", size: 4 << 20) { |cache| cache.set("k", "v", ttl: 60) }
      print Larder::Cache.open("cache.larder") { |cache| cache.get("k") }, " ", Larder::VERSION
    RUBY

    STORE = <<~RUBY
      require "active_support"
      require "active_support/cache"
      store = ActiveSupport::Cache.lookup_store(:larder_store, "store.larder", { size: 4 << 20 })
      store.write("k", { "v" => [1, nil] })
      print store.class, " ", store.fetch("k") ["v"].inspect
    RUBY

    SESSIONS = <<~RUBY
      require "larder/sessions"
      sessions = Larder::Sessions.repository(file: "sessions.larder", size: 4 << 20)
      sessions.index.announce
      print sessions.begin("k" * 32, { "user_id" => 7 })
    RUBY

    # Larder wants no upper bound of Rails: the next minor may work, and Bundler could not try it.
    ACCEPTED_WARNING = /open-ended dependency on activesupport/

    def initialize
      @counts = Counts.none
    end

    # @return [Boolean] whether all went well
    def check
      Dir.mktmpdir("larder-gems") do |directory|
        @directory = directory
        GEMS.each_key { |gemspec| check_contents(gemspec) }
        check_installation
      end
      puts @counts
      @counts.failed.zero?
    end

    private

    def check_contents(gemspec)
      package = build(gemspec)
      return unless package

      files = Gem::Package.new(package).contents
      expect("#{gemspec} has the files it needs", needed(gemspec) - files, [])
      expect("#{gemspec} has no file too many", files.grep(GEMS[gemspec][:unwanted]), [])
    end

    # A pattern that matches no file is listed itself, so that it is missed.
    def needed(gemspec)
      directory = File.dirname(File.join(ROOT, gemspec))
      GEMS[gemspec][:needed].flat_map do |pattern|
        found = Dir.glob(pattern, base: directory)
        found.empty? ? [pattern] : found
      end
    end

    # @return [String, nil] path of the built gem
    def build(gemspec)
      directory, name = File.split(File.join(ROOT, gemspec))
      package = File.join(@directory, "#{File.basename(name, ".gemspec")}.gem")
      output, status = Open3.capture2e(clean, "gem", "build", "--output", package, name, chdir: directory)
      warnings = output.lines(chomp: true).grep(/^WARNING:(?!  See )/).grep_v(ACCEPTED_WARNING)
      expect("#{gemspec} builds without a warning", [status.exitstatus, warnings], [0, []])
      package if File.exist?(package)
    end

    def check_installation
      FileUtils.mkdir(work = File.join(@directory, "work"))
      install
      expect("larder runs", output_of(work, "ruby", "-w", "-e", CACHE), "v #{version}")
      expect("the Rails store is found by its name", output_of(work, "ruby", "-e", STORE),
             "ActiveSupport::Cache::LarderStore [1, nil]")
      expect("sessions are stored", output_of(work, "ruby", "-w", "-e", SESSIONS), "true")
      figures = output_of(work, "larder", "sessions", "--file", "sessions.larder", "--json")
      expect("the command runs", figures[/"signed_in":\d/] || figures, %("signed_in":1))
      measured = output_of(work, "larder-lab", "stores", "--quick", "--n", "20", "--rounds", "1",
                           "--only", "larder,null", "--workloads", "write")
      puts measured unless expect("larder-lab measures larder", measured[/^ +larder +\d/].nil?, false)
    end

    def install
      Dir[File.join(Environment.gem_path, "ruby/*/cache/*.gem")].each { |path| FileUtils.ln_s(path, @directory) }
      command = ["gem", "install", "--local", "--no-document", "larder.gem", "larder-lab.gem"]
      output, status = Open3.capture2e(clean, *command, chdir: @directory)
      puts output unless status.success?
      expect("both gems install into an empty directory", status.success?, true)
    end

    # Neither Bundler nor any other gem directory of this machine.
    def clean
      home = File.join(@directory, "home")
      inherited = ENV.keys.grep(/\A(?:BUNDLE|BUNDLER|GEM|RUBY)/).to_h { |name| [name, nil] }
      inherited.merge("GEM_HOME" => home, "GEM_PATH" => home, "PATH" => "#{home}/bin:#{ENV.fetch("PATH")}")
    end

    def output_of(directory, *command)
      output, status = Open3.capture2e(clean, *command, chdir: directory)
      status.success? ? output : "#{output} (#{status})"
    end

    def version
      File.read(File.join(ROOT, "engine/include/larder.h"), encoding: "UTF-8")[/^#define LARDER_VERSION "([^"]+)"/, 1]
    end

    # @return [Boolean] whether it is as wanted
    def expect(what, found, wanted)
      ok = found == wanted
      @counts += ok ? Counts.new(1, 0, 0) : Counts.new(0, 1, 0)
      puts "#{ok ? "ok  " : "FAIL"} #{what}#{": #{found.inspect}, not #{wanted.inspect}" unless ok}"
      $stdout.flush
      ok
    end
  end
end

exit House::Packages.new.check if $PROGRAM_NAME == __FILE__
