# frozen_string_literal: true

require "test_helper"
require "rubygems/package"
require_relative "../../rakelib/house/environment"

module House
  # Both gems as users get them: built, installed and compiled into an empty directory, and run without Bundler.
  # Dependencies come from the gems that Bundler has fetched, so this needs no network.
  class GemTest < ActiveSupport::TestCase
    include TemporaryDirectory

    # gemspec, patterns of files that the gem must have all of, files that it must not have
    GEMS = {
      "larder.gemspec" => {
        needed: ["exe/larder", "man/larder.1", "ext/larder/**/*.{c,h,rb}", "engine/{src,include}/**/*.{c,h}",
                 "lib/**/*.rb", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
                 "LICENSE"],
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

    GEMS.each do |gemspec, rule|
      test "#{gemspec} builds without a warning, with the files it needs and no other" do
        package, output = build(gemspec)
        assert_empty output.lines(chomp: true).grep(/^WARNING:(?!  See )/).grep_v(ACCEPTED_WARNING)
        files = Gem::Package.new(package).contents
        assert_empty needed(gemspec) - files
        assert_empty files.grep(rule[:unwanted])
      end
    end

    # All of it in one, for it takes a quarter of a minute to compile.
    test "the installed gems are whole, have nothing left over, and run" do
      install
      assert_no_left_overs
      assert_stripped
      assert_links
      assert_equal "v #{Larder::VERSION}", run_clean("ruby", "-w", "-e", CACHE)
      assert_equal "ActiveSupport::Cache::LarderStore [1, nil]", run_clean("ruby", "-e", STORE)
      assert_equal "true", run_clean("ruby", "-w", "-e", SESSIONS)
      assert_match(/^Usage: larder COMMAND/, run_clean("larder", "--help"))
      assert_match(/^\.TH LARDER 1 /, File.read(run_clean("larder", "man").chomp))
      assert_match(/"signed_in":1\b/, run_clean("larder", "sessions", "--file", "sessions.larder", "--json"))
      assert_match(/^ +larder +\d/, run_clean("larder-lab", "stores", "--sessions", "1", "--passes", "1",
                                              "--turn-ms", "1", "--only", "larder,null", "--blocks", "write"))
    end

    test "the gem says where its page, its sources and its changes are" do
      addresses = [specification.homepage, *specification.metadata.values_at("source_code_uri", "changelog_uri",
                                                                             "documentation_uri")]
      addresses.each { |address| assert_match(%r{\Ahttps://(?:rubygems\.org|rubydoc\.info)/gems/larder\b}, address) }
    end

    test "the gem of the lab has what its documents link to" do
      lab = File.join(ROOT, "lab")
      files = Dir.chdir(lab) { Gem::Specification.load("larder-lab.gemspec").files }
      missing = files.grep(/\.md\z/).flat_map { |name| links(File.join(lab, name)) } - files
      assert_empty missing
    end

    private

    def home
      path_of("home")
    end

    # A pattern that matches no file is listed itself, so that it is missed.
    def needed(gemspec)
      base = File.dirname(File.join(ROOT, gemspec))
      GEMS[gemspec][:needed].flat_map { |pattern| Dir.glob(pattern, base: base).presence || [pattern] }
    end

    # @return [Array(String, String)] path of the built gem, and what was printed
    def build(gemspec)
      base, name = File.split(File.join(ROOT, gemspec))
      package = path_of("#{File.basename(name, ".gemspec")}.gem")
      [package, run_clean("gem", "build", "--norc", "--output", package, name, from: base)]
    end

    def install
      packages = GEMS.keys.map { |gemspec| File.basename(build(gemspec).first) }
      Dir[File.join(Environment.gem_path, "ruby/*/cache/*.gem")].each { |path| FileUtils.ln_s(path, directory) }
      run_clean("gem", "install", "--norc", "--local", "--no-document", *packages)
    end

    def assert_no_left_overs
      files = installed("**/*", File::FNM_DOTMATCH)
      assert_includes files, "lib/larder.rb"
      assert_empty files.grep(/\.(?:o|time|log|larder)\z/)
      made = ["ext/larder/Makefile", "lib/larder/larder.#{RbConfig::CONFIG["DLEXT"]}"]
      assert_equal specification.files.sort, (files - made).sort
    end

    def assert_stripped
      library = File.binread(File.join(gem_directory, "lib/larder/larder.#{RbConfig::CONFIG["DLEXT"]}"))
      assert_operator library.bytesize, :<, 640 << 10
      assert_no_match(/\.debug_|\.symtab/n, library)
    end

    # Of Markdown, and of the HTML in it.
    def assert_links
      documents = installed("**/*.md")
      assert_operator documents.size, :>, 20
      assert_empty(documents.flat_map { |name| dead_links(File.join(gem_directory, name)) })
    end

    def dead_links(document)
      links(document).filter_map do |link|
        "#{document}: #{link}" unless File.exist?(File.expand_path(link, File.dirname(document)))
      end
    end

    # @return [Array<String>] files that the document links to
    def links(document)
      links = File.read(document, encoding: "UTF-8").scan(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/)
      links.flatten.compact.grep_v(/\A(?:https?:|mailto:|#)/).map { |link| link.sub(/#.*/, "") }
    end

    def installed(pattern, flags = 0)
      Dir.glob(pattern, flags, base: gem_directory).select { |name| File.file?(File.join(gem_directory, name)) }
    end

    def gem_directory
      Dir["#{home}/gems/larder-[0-9]*"].sole
    end

    def specification
      Gem::Specification.load(File.join(ROOT, "larder.gemspec"))
    end

    # Neither Bundler nor any other gem directory of this machine.
    def run_clean(*command, from: directory)
      inherited = ENV.keys.grep(/\A(?:BUNDLE|BUNDLER|GEM|RUBY|LARDER)/).to_h { |name| [name, nil] }
      gems = { "GEM_HOME" => home, "GEM_PATH" => home, "PATH" => "#{home}/bin:#{ENV.fetch("PATH")}" }
      output, status = Open3.capture2e({ **inherited, **gems }, *command, chdir: from)
      assert_predicate status, :success?, "#{command.join(" ")}\n#{output}"
      output
    end
  end
end
