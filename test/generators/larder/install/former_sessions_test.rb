# frozen_string_literal: true

require "test_helper"
require "generators/larder/install/former_sessions"

class FormerSessionsTest < ActiveSupport::TestCase
  test "options are found in parentheses, in braces and after each kind of name" do
    ["config.session_store(:cookie_store, key: \"a\", secure: true)", "config.session_store(:cookie_store)",
     "config.session_store :cookie_store, { :key => \"a\", \"secure\" => true }",
     "config.session_store :cookie_store, \"key\": \"a\",\n  # both\n  secure: true\n"].each do |text|
      former = former(text)
      assert_equal text.include?("key") ? { "key" => "\"a\"", "secure" => "true" } : {}, former.kept, text
      assert_empty former.left
    end
  end

  test "a comma in a value or a text does not end the option" do
    text = "config.session_store Store, domain: ->(r) { [r, 1] }, path: \"/a, \#{[1, 2].join(\", \")}\", b: f(1, 2)"
    assert_equal({ "domain" => "->(r) { [r, 1] }", "path" => "\"/a, \#{[1, 2].join(\", \")}\"" }, former(text).kept)
    assert_equal ["b:"], former(text).left
  end

  test "options without a name are left out" do
    assert_equal ["OPTIONS", "**more"], former("config.session_store :cookie_store, OPTIONS, **more").left
  end

  test "of several statements, the last names the cookie, and the other options are left out" do
    former = Larder::Generators::FormerSessions.new(
      ["config.session_store :active_record_store, key: \"_a\", secure: true",
       "config.session_store :cookie_store, key: \"_b\", path: \"/\"",
       "config.session_store :larder_store, key: \"_c\""]
    )
    assert_equal [{ "key" => "\"_b\"" }, %w[secure: path:]], [former.kept, former.left]
  end

  test "sessions are turned off if the last statement says so" do
    assert_predicate former("config.session_store(:disabled)"), :disabled?
    assert_not_predicate former("config.session_store :cookie_store"), :disabled?
    assert_not_predicate Larder::Generators::FormerSessions.new([]), :disabled?
  end

  test "an option that sessions of Larder have for something else is left out" do
    former = former("config.session_store :cache_store, cache: STORE, serializer: :json, path: \"/shop\"")
    assert_equal [{ "path" => "\"/shop\"" }, %w[cache: serializer:]], [former.kept, former.left]
  end

  test "sessions take each option that is kept" do
    Larder::Generators::FormerSessions::KEPT.each do |name|
      assert_equal({ name.to_sym => nil }, Larder::Sessions::Configuration.split({ name.to_sym => nil }).last)
    end
  end

  private

  def former(text)
    Larder::Generators::FormerSessions.new([text])
  end
end
