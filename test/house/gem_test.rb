# frozen_string_literal: true

require "test_helper"

module House
  # The gem as users get it: built, installed and compiled into a directory of its own, without Bundler.
  class GemTest < ActiveSupport::TestCase
    include TemporaryDirectory

    ROOT = File.expand_path("../..", __dir__)
    # What Bundler and the checkout would lend it.
    LENT = { "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => nil, "BUNDLE_PATH" => nil, "LARDER_DEV" => nil,
             "LARDER_SANITIZE" => nil }.freeze

    # All of it in one, for it takes a quarter of a minute to compile.
    test "the installed gem is whole, has nothing left over, and serves a Rails cache" do
      install
      assert_no_left_overs
      assert_stripped
      assert_links
      assert_equal "Moby-Dick", ruby(<<~RUBY)
        gem "larder"
        require "active_support"
        require "active_support/cache"
        require "active_support/cache/larder_store"
        abort $LOADED_FEATURES.grep(/larder/).first unless $LOADED_FEATURES.grep(/larder/).all?(/\\A\#{ENV["GEM_HOME"]}/)
        cache = ActiveSupport::Cache.lookup_store(:larder_store, "gem.larder", { size: "2MB" })
        2.times { |i| $book = cache.fetch("book") { i.zero? ? "Moby-Dick" : abort } }
        print $book
      RUBY
      assert_match(/\Alarder manages/, outcome("#{home}/bin/larder", "--help"))
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

    def install
      outcome(RbConfig.ruby, "-S", "gem", "build", "--norc", "larder.gemspec", "--output", path_of("larder.gem"),
              from: ROOT)
      outcome(RbConfig.ruby, "-S", "gem", "install", "--norc", "--local", "--ignore-dependencies", "--no-document",
              path_of("larder.gem"))
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
      assert_operator library.bytesize, :<, 512 << 10
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
      Dir["#{home}/gems/larder-*"].sole
    end

    def specification
      Gem::Specification.load(File.join(ROOT, "larder.gemspec"))
    end

    def ruby(script)
      outcome(RbConfig.ruby, "-w", "-e", script)
    end

    # @return [String] what it printed
    def outcome(*command, from: directory)
      gems = { "GEM_HOME" => home, "GEM_PATH" => [home, *Gem.path].join(File::PATH_SEPARATOR) }
      output, status = Open3.capture2e({ **LENT, **gems }, *command, chdir: from)
      assert_predicate status, :success?, "#{command.join(" ")}\n#{output}"
      output
    end
  end
end
