# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

class LarderStoreTagTextsTest < ActiveSupport::TestCase
  TagTexts = Larder::Store::TagTexts

  test "a tag of the caller never equals a namespace" do
    assert_equal ["\0shop:", "shop:"], TagTexts.of("shop:", "shop:")
  end

  test "names are those of the caller, as text" do
    texts = TagTexts.of([:red, "grün"], "shop:")
    assert_equal %w[red grün], texts.names
    assert_equal [Encoding::UTF_8] * 2, texts.names.map(&:encoding)
  end

  test "without tags there is the namespace alone, or nothing" do
    assert_equal [["shop:"], []], [TagTexts.of(nil, "shop:"), TagTexts.of(nil, "")]
  end

  test "texts are taken as they are" do
    texts = TagTexts.of("red", "shop:")
    assert_same texts, TagTexts.of(texts, "other:")
  end

  test "other names leave the namespace" do
    assert_equal ["\0blue", "shop:"], TagTexts.of("red", "shop:").with_names(:blue)
    assert_equal ["\0blue"], TagTexts.of("red", "").with_names(:blue)
    assert_equal ["shop:"], TagTexts.of("red", "shop:").with_names(nil)
  end

  test "the namespace counts as one of the tags that an entry can have" do
    most = Array.new(Larder::Cache::MAX_TAGS, &:to_s)
    assert_equal most, TagTexts.of(most, "").names
    error = assert_raises(ArgumentError) { TagTexts.of(most, "shop:") }
    assert_includes error.message, "including its namespace"
  end
end
