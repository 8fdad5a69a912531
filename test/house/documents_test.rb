# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "open3"
require "tmpdir"
require_relative "../../rakelib/house/options_page"

module House
  # What the documents say: their links lead somewhere, the commands they name are there, the README's Ruby runs.
  class DocumentsTest < ActiveSupport::TestCase
    ROOT = File.expand_path("../..", __dir__)
    DOCUMENTS = Dir.glob(["*.md", "docs/**/*.md", "examples/*/*.md", "{bench,lab,proof}/*.md"], base: ROOT)

    test "there are documents" do
      assert_includes DOCUMENTS, "README.md"
      assert_includes DOCUMENTS, "ARCHITECTURE.md"
    end

    # What leaves it goes to a page of docs/.
    test "the README has 7 KB at most" do
      assert_operator File.size(File.join(ROOT, "README.md")), :<=, 7 << 10
    end

    DOCUMENTS.each do |document|
      test "the links of #{document} lead to files" do
        links = read(document).scan(/\]\(([^)\s]+)\)/).flatten.grep_v(/\A(?:https?:|mailto:|#)/)
        missing = links.reject { |link| File.exist?(File.join(ROOT, File.dirname(document), link.sub(/#.*/, ""))) }
        assert_empty missing
      end

      # bin/rails is an application's.
      test "the commands that #{document} names are there and can be run" do
        commands = read(document).scan(%r{(?<![\w/.])(?:bin|\.ci)/[a-z]+}).uniq
        missing = commands.without("bin/rails").reject { |command| File.executable?(File.join(ROOT, command)) }
        assert_empty missing
      end
    end

    test "ARCHITECTURE.md lists every source file of the engine and of the layers up to the store" do
      text = read("ARCHITECTURE.md")
      ruby = "lib/larder/{bytes,codecs,remote,store,rails}/*.rb"
      sources = Dir.glob(["engine/src/*/*", ruby, "ext/larder/**/*.{c,h}"], base: ROOT)
      missing = sources.map { |path| File.basename(path) }.reject { |name| text.include?(name) || paired?(text, name) }
      assert_empty missing
    end

    test "the index of decisions has each one, by its title" do
      index = read("docs/adr/README.md")
      records = Dir.glob("docs/adr/[0-9]*.md", base: ROOT)
      assert_not_empty records
      lines = records.map { |path| "- [#{read(path)[/\A# (.+)$/, 1]}](#{File.basename(path)})" }
      assert_empty lines.reject { |line| index.include?(line) }
    end

    test "the index of documents has each page in the section of its directory, with what it is about" do
      sections = read("docs/README.md").split(/^## /).drop(1).to_h { |text| text.split("\n", 2) }
      { "Guides" => "guides/", "Reference" => "reference/", "Design" => "" }.each do |section, directory|
        lines = sections.fetch(section).lines.grep(/\A-/)
        assert_empty lines.grep_v(/\A- \[[^\]]+\]\([^)]+\): \S/), section
        pages = Dir.children(File.join(ROOT, "docs", directory)).grep(/\.md\z/).without("README.md")
        listed = lines.filter_map { |line| line[%r{\]\(#{directory}([^/)]+\.md)\)}, 1] }
        assert_equal pages.sort, listed.sort, section
      end
    end

    test "the page of options is what `rake docs:options` writes" do
      page = OptionsPage.new
      assert_equal page.text, page.read
    end

    test "the page of options, and the README, have the options that the store takes" do
      taken = Larder::Store::Options.names(:store) | Larder::Store::Options.names(:call)
      assert_equal taken.sort, options_of("docs/reference/options.md").sort
      assert_not_empty options_of("README.md")
      assert_empty options_of("README.md") - taken
    end

    test "the codecs that the page of options names can be configured by their names alone" do
      { serializer: Larder::Serializers, compressor: Larder::Compressors }.each do |option, codecs|
        named = read("docs/reference/options.md")[/^\| `#{option}:` \|.*$/].scan(/`:(\w+)`/).flatten.map(&:to_sym).uniq
        assert_operator named.size, :>=, 6
        assert_empty named - codecs.names
        Dir.mktmpdir { |dir| named.each { |name| configure(File.join(dir, "cache.larder"), option => name) } }
      end
    end

    # What is about sessions is tried by session_guide_test.rb.
    test "the Ruby of the README runs and answers what its comments say" do
      blocks = read("README.md").scan(/^```ruby\n(.*?)^```/m).flatten.grep_v(/config\.\w+_store|Larder::Sessions/)
      assert_not_empty blocks
      blocks.each { |block| assert_runs block }
    end

    # What the code blocks of a document refer to: an application's configuration, and records of products.
    APPLICATION = <<~RUBY
      require "active_support/all"
      require "active_record"
      require "logger"
      require "active_support/cache/larder_store"
      ENV["REDIS_URL"] ||= "redis://127.0.0.1:1/0"
      ENV["CACHE_SECRET"] ||= "sixteen bytes or more"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
      ActiveRecord::Base.connection.create_table(:products) do |t|
        t.string :name
        t.string :secret
        t.decimal :price
        t.timestamps
      end
      class Product < ActiveRecord::Base; end
      600.times { |i| Product.create!(name: "product \#{i} of the house, in a box", secret: "kept out", price: i) }
      module Rails
        def self.cache = @cache ||= ActiveSupport::Cache.lookup_store(:larder_store, "rails.larder", size: 16 << 20)
      end
      ActiveSupport::Cache.format_version = 7.1
      config = Object.new
      def config.cache_store=(given)
        puts ActiveSupport::Cache.lookup_store(*given).class
      end
    RUBY

    test "the Ruby of the guide to codecs runs, as does the README's of codecs" do
      blocks = read("docs/guides/codecs.md").scan(/^```ruby\n(.*?)^```/m).flatten
      blocks << read("README.md")[/^\*\*Codecs\.\*\*.*?^```ruby\n(.*?)^```/m, 1]
      assert_operator blocks.size, :>=, 5
      product = 'cached = Rails.cache.tap { |cache| cache.write("p", Product.first(3)) }.read("p")'
      stores = run_ruby([APPLICATION, *blocks, product, "puts cached.map(&:name).size"].join("\n")).lines.map(&:chomp)
      assert_equal %w[LarderStore RedisCacheStore RedisCacheStore RedisCacheStore RedisCacheStore 3],
                   (stores.map { |line| line.split("::").last })
    end

    private

    # A codec whose gem is missing says so when it is configured.
    def configure(path, options)
      assert_instance_of ActiveSupport::Cache::LarderStore, ActiveSupport::Cache::LarderStore.new(path, **options)
    rescue Larder::MissingGemError => error
      assert_includes error.message, options.values.first.inspect
    end

    def run_ruby(program)
      Dir.mktmpdir do |dir|
        out, error, status = Open3.capture3(RbConfig.ruby, "-W0", "-I#{ROOT}/lib", "-rbundler/setup", "-",
                                            stdin_data: program, chdir: dir)
        assert_predicate status, :success?, "#{program}\n#{out}#{error}"
        out
      end
    end

    def read(document)
      File.read(File.join(ROOT, document), encoding: "UTF-8")
    end

    # Those that the first columns of its tables name.
    def options_of(document)
      cells = read(document).lines.filter_map { |line| line[/\A\| (`\w+:`[^|]*)\|/, 1] }
      cells.join.scan(/`(\w+):`/).flatten.map(&:to_sym)
    end

    # A header is described by the row of its source.
    def paired?(text, name)
      name.end_with?(".h") && text.include?("#{File.basename(name, ".h")}.c")
    end

    # A line `expression   # => value` becomes an assertion.
    def assert_runs(block)
      code = block.gsub(/^(.+?)\s+# => (.+)$/) { "answers(#{$2.inspect}, #{$2}) { #{$1} }" }
      program = <<~RUBY
        def build_report = 42
        def answers(text, value) = (found = yield) == value || abort("\#{found.inspect}, not \#{text}")
        #{code}
      RUBY
      Dir.mktmpdir("larder-readme") do |directory|
        FileUtils.mkdir(File.join(directory, "tmp"))
        output, status = Open3.capture2e(RbConfig.ruby, "-I#{File.join(ROOT, "lib")}", "-rbundler/setup", "-e", program,
                                         chdir: directory)
        assert status.success?, "#{block}\n#{output}"
      end
    end
  end
end
