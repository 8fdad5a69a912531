# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"
require "generators/larder/install/former_cache"

class FormerCacheTest < ActiveSupport::TestCase
  test "the store takes each option that is kept" do
    Larder::Generators::FormerCache::KEPT.each do |name|
      assert_includes Larder::Store::Options::TABLE.fetch(name.to_sym).places, :store
    end
  end

  test "options of Solid Cache come from the section of production, and the statement wins" do
    cache = former(":solid_cache_store, { namespace: NAME }", <<~YAML)
      shared:
        encrypt: true
      production:
        databases: [one, two]
        store_options:
          namespace: shop
          expires_in: <%= 1.day -%>
          compress: false
          max_size: <%= Size.megabytes %>00
      test:
        store_options: { raw: true }
    YAML
    assert_equal({ "namespace" => "NAME", "expires_in" => "1.day", "compress" => "false" }, cache.kept)
    assert_equal [[], %w[encrypt: databases: max_size:]], [cache.left, cache.left_in_file]
  end

  test "a file that is not read as YAML is left out" do
    ["a: [", "<% if true %>\na: 1\n<% end %>\n", "? !ruby/object:Object {}\n"].each do |yaml|
      cache = former(":solid_cache_store, { expires_in: 5 }", yaml)
      assert_equal [{ "expires_in" => "5" }, ["all options, as this is not YAML"]], [cache.kept, cache.left_in_file]
    end
    ["", "text", "production:\n", "production:\n  store_options: <%= OPTIONS %>\n"].each do |yaml|
      assert_equal({}, former(":solid_cache_store", yaml).kept, yaml)
    end
  end

  test "the file of Solid Cache says nothing about another store" do
    cache = former(":file_store, \"tmp\"", "production:\n  store_options:\n    namespace: shop\n")
    assert_equal [{}, []], [cache.kept, cache.left_in_file]
  end

  private

  def former(store, yaml)
    Larder::Generators::FormerCache.new("config.cache_store = #{store}\n", yaml)
  end
end
