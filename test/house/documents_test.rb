# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "open3"
require "tmpdir"

module House
  # What the documents say: their links lead somewhere, the commands they name are there, the README's Ruby runs.
  class DocumentsTest < ActiveSupport::TestCase
    ROOT = File.expand_path("../..", __dir__)
    DOCUMENTS = Dir.glob(["*.md", "docs/**/*.md", "examples/*/*.md", "{bench,lab,proof}/*.md"], base: ROOT)

    test "there are documents" do
      assert_includes DOCUMENTS, "README.md"
      assert_includes DOCUMENTS, "ARCHITECTURE.md"
    end

    DOCUMENTS.each do |document|
      test "the links of #{document} lead to files" do
        links = read(document).scan(/\]\(([^)\s]+)\)/).flatten.grep_v(/\A(?:https?:|mailto:|#)/)
        missing = links.reject { |link| File.exist?(File.join(ROOT, File.dirname(document), link.sub(/#.*/, ""))) }
        assert_empty missing
      end

      test "the commands that #{document} names are there and can be run" do
        commands = read(document).scan(%r{(?<![\w/.])(?:bin|\.ci)/[a-z]+}).uniq
        missing = commands.reject { |command| File.executable?(File.join(ROOT, command)) }
        assert_empty missing
      end
    end

    test "ARCHITECTURE.md lists every source file of the engine and of the store" do
      text = read("ARCHITECTURE.md")
      sources = Dir.glob(["engine/src/*", "lib/larder/store/*.rb", "ext/larder/*.c"], base: ROOT)
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

    # What is about sessions is tried by session_guide_test.rb.
    test "the Ruby of the README runs and answers what its comments say" do
      blocks = read("README.md").scan(/^```ruby\n(.*?)^```/m).flatten.grep_v(/config\.\w+_store|Larder::Sessions/)
      assert_operator blocks.size, :>=, 2
      blocks.each { |block| assert_runs block }
    end

    private

    def read(document)
      File.read(File.join(ROOT, document), encoding: "UTF-8")
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
