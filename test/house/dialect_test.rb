# frozen_string_literal: true

require "test_helper"
require_relative "../../rakelib/house/dialect_record"

module House
  # Phrases that only insiders read without effort: a new or changed sentence has none, and their number falls.
  class DialectTest < ActiveSupport::TestCase
    # The tree is read once for all tests.
    def self.record = @record ||= DialectRecord.new

    test "no sentence that is new or changed has a phrase to avoid" do
      assert_empty record.added.map(&:to_s), "how to write instead is behind each line"
    end

    test "the record has only what is still in the tree" do
      assert_equal 0, record.gone, "lower the record: bundle exec rake house:dialect"
    end

    test "the record is sorted, and of known patterns" do
      entries = File.readlines(File.join(ROOT, DialectRecord::PATH), chomp: true)
      assert_equal entries.sort, entries
      assert_empty entries.map { |entry| entry.split.first }.uniq - Dialect::PATTERNS.map(&:name)
    end

    # pattern => [phrases to avoid, plain ones]
    EXAMPLES = {
      "what-who" => [["What a later version sends is taken for a delete.", "Sends it. Who asks again waits."],
                     ["Says what it holds.", "Whole values are kept."]],
      "object-first" => [["Of two machines, the later one wins.", "Beside the rates it prints the bytes."],
                         ["By default it is off.", "From now on it is empty.", "From Rails 8 on it is there."]],
      "of-which" => [["a segment, of which half is dead", "the user for whom it is"], ["says which one it is"]],
      "is-no" => [["this is no number of seconds", "They were no records."],
                  ["There is no file.", "It is no longer there.", "is no reason to wait"]],
      "nobody" => [["Nobody reads it.", "whoever asks"], ["install -o nobody", "chown nobody:nogroup"]],
      "question" => [["Is it an old value?", "Ends it. Has it a tag? See tags.c."], ["True if it is old."]],
      "beside" => [["faster beside other stores", "the option beside `wait:`"],
                   ["a lock file beside the cache file", "see beside.h"]],
      "same-of" => [["The same of a read.", "and likewise for tags"], ["It has the same size."]],
      "private-verb" => [["a machine hears of it", "the caller is told", "the far store"],
                         ["two keys are told apart", "removed on the fly", "as far as known", "on Fly.io"]],
      "archaic" => [["made anew", "changed meanwhile", "so many as fit"], ["as many as fit"]]
    }.freeze

    test "there is an example of each pattern" do
      assert_equal Dialect::PATTERNS.map(&:name), EXAMPLES.keys
    end

    EXAMPLES.each do |name, (avoided, plain)|
      test "#{name} is found in comments, and plain words are not" do
        avoided.each { |text| assert_includes names("a.rb", "# #{text}\n"), name, text }
        plain.each { |text| assert_empty names("a.rb", "# #{text}\n"), text }
      end
    end

    test "a finding names the line, the phrase and what to write" do
      finding = Dialect.in_source("a.rb", "# Keeps the value\n# that nobody reads.\n").first
      assert_equal "a.rb:2: \"nobody\" (nobody): name the actor: a process, a caller, a user; or \"no process\", " \
                   "\"unused\"", finding.to_s
    end

    test "a document may ask" do
      assert_empty names("a.md", "What does it cost? See below.\n")
      assert_equal ["what-who"], names("a.md", "What it costs is below.\n")
    end

    test "a phrase that goes over the end of a line is found" do
      assert_equal ["of-which"], names("a.c", "/* A segment, of\n * which half is dead. */\n")
    end

    test "the record takes an equal sentence as often as it has it" do
      one = Dialect.in_source("a.rb", "# Nobody reads it.\n")
      entry = recorded(one)
      assert_empty DialectRecord.new(one, entry).added
      two = one + Dialect.in_source("b.rb", "# Nobody reads it.\n")
      assert_equal ["b.rb"], DialectRecord.new(two, entry).added.map(&:path)
      assert_equal one, DialectRecord.new(one, []).added
    end

    test "a sentence that is changed and keeps its phrase is found" do
      entry = recorded(Dialect.in_source("a.rb", "# Nobody reads it.\n"))
      changed = DialectRecord.new(Dialect.in_source("a.rb", "# Nobody reads this.\n"), entry)
      assert_equal [1, 1, []], [changed.added.size, changed.gone, changed.kept]
    end

    test "a sentence that is moved, or broken elsewhere, is not changed" do
      entry = recorded(Dialect.in_source("a.rb", "# Nobody reads the whole file.\n"))
      moved = DialectRecord.new(Dialect.in_source("b.c", "/* Empty. Nobody reads\n * the whole file. */\n"), entry)
      assert_equal [[], 0, entry], [moved.added, moved.gone, moved.kept]
    end

    private

    def record
      skip "these files are not in a git checkout" if Checkout.files.empty?
      self.class.record
    end

    def names(path, source)
      Dialect.in_source(path, source).map { |finding| finding.pattern.name }
    end

    # The lines that a record of these would have.
    def recorded(findings)
      findings.map { |finding| DialectRecord.new([finding], []).send(:entry, finding) }
    end
  end
end
