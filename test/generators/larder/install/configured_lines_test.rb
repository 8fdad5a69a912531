# frozen_string_literal: true

require "test_helper"
require "generators/larder/install/configured_lines"

# Statements of configuration files, found and replaced.
class ConfiguredLinesTest < ActiveSupport::TestCase
  NEW = "config.cache_store = :larder_store"

  # Configurations whose only statement can be replaced.
  REPLACEABLE = {
    "one line"             => ["  config.cache_store = :solid_cache_store\n", 1],
    "a comment behind"     => ["  config.cache_store = :solid_cache_store # durable\n", 1],
    "a Hash over lines"    => ["  config.cache_store = :redis_cache_store, {\n    url: ENV[\"REDIS_URL\"],\n  }\n", 3],
    "an Array over lines"  => ["  config.cache_store =\n    [\n      :file_store,\n      \"tmp\"\n    ]\n", 5],
    "a comma at the end"   => ["  config.cache_store = :mem_cache_store,\n    \"one\",\n\n    # two\n    \"two\"\n", 5],
    "a chain"              => ["  config.cache_store = Store\n    # named\n    .new(1)\n    .tap { |one| p one }\n", 4],
    "a backslash"          => ["  config.cache_store = :file_store, \\\n    \"tmp\"\n", 2],
    "a condition as value" => ["  config.cache_store = if ENV[\"A\"]\n    :a\n  else\n    :b\n  end\n", 5],
    "a text over lines"    => ["  config.cache_store = :file_store, <<~PATH.strip\ntmp/cache\n  PATH\n", 3],
    "the name in full"     => ["  Rails.application.config.cache_store = :memory_store\n", 1]
  }.freeze

  # Configurations that have no single statement which always holds.
  OTHERS = {
    "a condition"    => "  if ENV[\"A\"]\n    config.cache_store = :a\n  else\n    config.cache_store = :b\n  end\n",
    "a modifier"     => "  config.cache_store = :a if ENV[\"A\"]\n",
    "a block"        => "  config.after_initialize do\n    config.cache_store = :a\n  end\n",
    "two in a line"  => "  config.x = 1; config.cache_store = :a\n",
    "more behind it" => "  config.cache_store = :a; config.x = 1\n",
    "a method"       => "  def store\n    config.cache_store = :a\n  end\n"
  }.freeze

  REPLACEABLE.each do |name, (text, count)|
    test "#{name} is one statement, which is replaced and comes back" do
      file = within(text)
      one = lines(file).statements.first
      assert_equal [1, count, text, true], [one.first, one.count, one.text, one.replaceable]
      assert_equal 1, lines(file).statements.size
      changed = lines(file).replaced(NEW)
      assert_equal [NEW], (lines(changed).statements.map { |statement| statement.text.strip })
      assert_predicate lines(changed).statements.first, :larders?
      assert_equal file, lines(changed).restored
    end
  end

  OTHERS.each do |name, text|
    test "#{name} cannot be replaced" do
      assert_not_predicate lines(within(text)).statements.first, :replaceable
    end
  end

  test "a statement that was changed after it was replaced goes too" do
    changed = lines(within("  config.cache_store = :a\n")).replaced(NEW)
    changed = changed.sub(NEW, "#{NEW}, {\n    size: \"1GB\"\n  }")
    assert_equal within("  config.cache_store = :a\n"), lines(changed).restored
  end

  test "a statement is added after the comment that has one, or at the end, and goes again" do
    texts = { "  # config.cache_store = :mem_cache_store\n\n  config.x = 1\n" => 3, "  config.x = 1\n" => 3 }
    texts.each do |text, line|
      changed = lines(within(text)).added(NEW)
      assert_equal "  #{NEW}\n", changed.lines[line]
      assert_equal within(text), lines(changed).restored
    end
  end

  test "there is no place in a file without a block" do
    assert_nil lines("config = 1\n").added(NEW)
  end

  test "a file without the mark stays as it is" do
    text = within("  #{NEW}\n")
    assert_equal text, lines(text).restored
    text = within("  # a comment\n  #{NEW}\n")
    assert_equal text, lines(text).restored
  end

  test "the forms of a call are found, and questions are not" do
    ["config.cache_store :a, key: 1", "config.cache_store(:a)",
     "Rails.application.config.cache_store(:a)"].each do |text|
      assert_equal 1, lines("#{text}\n").statements.size, text
    end
    ["p config.cache_store", "config.cache_store", "# config.cache_store = 1", "other.cache_store = 1"].each do |text|
      assert_empty lines("#{text}\n").statements, text
    end
  end

  test "a class of an application can have the statement" do
    text = "module Shop\n  class Application < Rails::Application\n    config.cache_store = :a\n  end\nend\n"
    assert_predicate lines(text).statements.first, :replaceable
  end

  test "a file with a syntax error is named" do
    error = assert_raises(Larder::Generators::ConfiguredLines::Unreadable) { lines("do end end\n").statements }
    assert_equal "it has a syntax error", error.message
  end

  private

  def lines(text)
    Larder::Generators::ConfiguredLines.new(text, "cache_store")
  end

  def within(text)
    "Rails.application.configure do\n#{text}end\n"
  end
end
