# frozen_string_literal: true

require "test_helper"

module House
  # What comments in C and in the models name: files and functions that are there.
  class CommentsTest < ActiveSupport::TestCase
    ROOT = File.expand_path("../..", __dir__)
    SOURCES = Dir.glob(["engine/*/**/*.{c,h,pml}", "ext/**/*.{c,h}"], base: ROOT).grep_v(%r{/build/})
    MODELS = SOURCES.grep(/\.pml\z/)
    FILE = %r{(?<![\w/.])[a-z_0-9]+\.(?:c|h|pml)\b}
    FUNCTION = /\b(?:lard|larder|glue)_\w+/
    # "find_this, that and lard_other of file.c"
    OF_FILE = /(?<![\w.])(\w+(?:(?:, and |, | and )\w+)*) of (\w+\.(?:c|h|pml))/

    test "there are sources and models" do
      assert_operator SOURCES.size, :>, 200
      assert_operator MODELS.size, :>, 5
    end

    test "the files that comments name are there" do
      names = SOURCES.map { |path| File.basename(path) }
      assert_empty(in_comments(SOURCES) { |text| text.scan(FILE) - names })
    end

    test "the engine's and the glue's functions that comments name are there" do
      words = SOURCES.flat_map { |path| read(path).gsub(COMMENT, "").scan(/\w+/) }.to_set
      assert_empty(in_comments(SOURCES) { |text| text.scan(FUNCTION).reject { |name| words.include?(name) } })
    end

    test "a model names functions of the files that it names with them" do
      named = 0
      wrong = in_comments(MODELS) do |text|
        text.scan(OF_FILE).flat_map do |list, file|
          names = list.split(/, and |, | and /)
          named += names.size
          names.reject { |name| defined_in?(file, name) }.map { |name| "#{name} of #{file}" }
        end
      end
      assert_empty wrong
      assert_operator named, :>, 20
    end

    COMMENT = %r{/\*.*?\*/}m
    private_constant :COMMENT

    private

    def read(path)
      File.read(File.join(ROOT, path), encoding: "UTF-8")
    end

    # @yieldparam text [String] a comment without line ends
    # @yieldreturn [Array<String>] what is wrong in it
    # @return [Array<String>] the same, with its file
    def in_comments(paths)
      paths.flat_map do |path|
        read(path).scan(COMMENT).flat_map { |comment| yield(comment.gsub(/\s*\n \*\s*/, " ")) }
                  .map { |problem| "#{path}: #{problem}" }
      end
    end

    def defined_in?(file, name)
      SOURCES.select { |path| File.basename(path) == file }
             .any? { |path| read(path).match?(/^(?!\s).*\b#{name}\(/) }
    end
  end
end
