# frozen_string_literal: true

require "test_helper"
require_relative "../../rakelib/house/prose"

module House
  # The English of sources and documents, without their code.
  class ProseTest < ActiveSupport::TestCase
    test "comments of Ruby, without examples and tags" do
      assert_equal [[:comment, "Keeps a value. Or two."], [:comment, "that it keeps"], [:comment, "a slot"]],
                   prose("a.rb", <<~'RUBY')
                     # Keeps a value.
                     # Or two.
                     #
                     #     cache.set("a b c d", 1)
                     # @param value [String, nil] that it keeps
                     slot = "#{"a # b"}" # a slot
                   RUBY
    end

    test "strings of four words or more are messages, also over several lines" do
      assert_equal [[:message, "the size must be a number of bytes"], [:message, "x is not open in here"]],
                   prose("a.rb", <<~'RUBY')
                     raise ArgumentError, "the size must be " \
                                          "a number of bytes"
                     other("two words", "#{path} is not open in here")
                   RUBY
    end

    test "a heredoc named TEXT is a message, others are code" do
      assert_equal [[:message, "Shows what x holds."]], prose("a.rb", <<~'SOURCE')
        HELP = <<~TEXT
          Shows what #{path} holds.
        TEXT
        CODE = <<~RUBY
          store.read key
        RUBY
      SOURCE
    end

    test "comments and strings of C" do
      assert_equal [[:comment, "a.c — keeps things."], [:comment, "Two lines of one comment."],
                    [:comment, "behind code"], [:message, "not a file of this cache"], [:comment, "One more."]],
                   prose("a.c", <<~'C')
                     /* a.c — keeps things. */
                     /* Two lines
                      * of one comment. */
                     int a = 1; /* behind code */
                     fail("not a file of this cache\n");
                     // One more.
                   C
    end

    test "a comment behind code that goes on in the next line" do
      assert_equal [[:comment, "the first and the second"], [:comment, "a third"]],
                   prose("a.h", "int a; /* the first\n        * and the second */\nint b; /* a third */\n")
    end

    test "comments of shell scripts and Makefiles" do
      assert_equal [[:comment, "Builds it."]], prose("engine/Makefile", "# Builds it.\nall: build\n")
      assert_equal [[:comment, "Runs it."]], prose("bin/run", "#!/bin/sh\n# Runs it.\n")
    end

    test "Markdown, without code, by cells and items" do
      assert_equal [[:heading, "Start"], [:document, "Some text over two lines."], [:document, "an item"],
                    [:document, "left"], [:document, "right"]],
                   prose("a.md", <<~MARKDOWN)
                     # Start
                     Some text
                     over two lines.

                     ```ruby
                     # nobody reads this
                     ```
                     - an item
                     | left | right |
                     |---|---|
                   MARKDOWN
    end

    test "code and quotations are blanked, and places stay" do
      text = Prose.of("a.md", "Run `nobody` and \"whoever\"\nor [this](nobody.md) now.\n").first
      assert_equal "Run `xxxxxx` and `xxxxxxx` or [this`xxxxxxxxxx` now.", text.unquoted
      assert_equal text.text.size, text.unquoted.size
      assert_equal 2, text.line_number(text.text.index("now"))
    end

    test "the sentence at a place" do
      text = Prose.of("a.md", "One. Two has\na file.txt in it. Three\n").first
      assert_equal ["One", "Two has a file.txt in it", "Three"], [0, 10, 33].map { |at| text.sentence(at) }
    end

    test "other files have none" do
      assert_empty prose("a.json", "{\"a\": \"four words or more\"}")
    end

    private

    def prose(path, source)
      Prose.of(path, source).map { |paragraph| [paragraph.kind, paragraph.text] }
    end
  end
end
