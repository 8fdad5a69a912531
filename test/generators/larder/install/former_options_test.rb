# frozen_string_literal: true

require "test_helper"
require "generators/larder/install/former_options"

class FormerOptionsTest < ActiveSupport::TestCase
  test "the store and its options are found in each form of a statement" do
    ["config.cache_store = :a, { b: 1 }", "config.cache_store = [:a, { b: 1 }]", "config.cache_store = [:a, b: 1]",
     "config.cache_store :a, b: 1", "config.cache_store(:a, b: 1)", "config.cache_store(\n  :a,\n  { :b => 1 }\n)\n",
     "config.cache_store = :a, \\\n  { \"b\": 1 } # one\n"].each do |text|
      options = options(text)
      assert_equal [":a", { "b" => "1" }, []], [options.store, options.named, options.others], text
    end
  end

  test "a condition after the statement is not a part of it" do
    ["if Rails.env.production?", "unless a[1, 2]", "while a", "until a", "rescue nil", "and a",
     "if a && (b or c)"].each do |text|
      ["config.cache_store :a, b: 3.days #{text}", "config.cache_store(:a, b: 3.days) #{text}",
       "config.cache_store = :a, { b: 3.days } #{text}",
       "config.cache_store = [:a, { b: 3.days }] #{text}"].each do |one|
        assert_equal [{ "b" => "3.days" }, []], [options(one).named, options(one).others], one
      end
    end
  end

  test "conditions, blocks, keywords and texts in a value are parts of it" do
    ["if a then 1 else 2 end", "(1 if a)", "begin 1 rescue 2 end", "case a when 1, 2 then 3 end",
     "lambda do |x, y| x if y end", "->(x, y) { x if y }", "[:if, :end, :do]", ":if",
     "\"a, \#{[1, 2].join(\", \")} if b\"", "a.end", "%w[a, b].size",
     "lambda { |x|\n  x\n  y }", "[ # one, two\n  1,\n  2 ]"].each do |value|
      named = options("config.cache_store :a, b: #{value}, c: 2 if d\n").named
      assert_equal({ "b" => value, "c" => "2" }, named)
    end
  end

  test "a store that is made is an argument without a name" do
    ["Store.new(a, b: 1)", "ENV[\"A\"].to_sym", "if a then :b else :c end", "*LIST"].each do |text|
      assert_equal [[text], {}], options("config.cache_store = #{text}").then { |one| [one.others, one.named] }
    end
    [":a", "\"a\"", "A::B", "::A"].each { |text| assert_empty options("config.cache_store = #{text}").others }
  end

  test "options among which the lines of a text are have no value" do
    options = options("config.cache_store :a, b: <<~TEXT, c: 1, d: 2\n  text, text\nTEXT\n")
    assert_equal [%w[b: d:], { "c" => "1" }], [options.others, options.named]
    options = options("config.cache_store = :a, { b: <<~TEXT, c: 1 }\n  text, text\nTEXT\n")
    assert_equal [["{ b: <<~TEXT, c: 1 }"], {}], [options.others, options.named]
  end

  private

  def options(text)
    Larder::Generators::FormerOptions.new(text, "cache_store")
  end
end
