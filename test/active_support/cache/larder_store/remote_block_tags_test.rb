# frozen_string_literal: true

# Tags that the block of `fetch` sets, with `remote:`, for machines that share a Redis without a backplane.

require "support/remote_case"
require "redis"

module LarderStoreTests
  class RemoteBlockTagsTest < RemoteCase
    WAYS = [{}, { single_flight: true }, { expires_in: 60, stale_if_error: 60 }, { tags: "other" }].freeze

    setup do
      @server = start("redis")
      @one, @two = %w[one two].map { |name| machine(name) }
    end

    def remote
      [:redis_cache_store, { url: @server.endpoint["url"] }]
    end

    # @return [Object, nil] what the machine finds in the remote store
    def far(cache, key)
      cache.cache.clear
      cache.read(key)
    end

    def compute(key, tags, cache: @one, **options)
      cache.fetch(key, **options) do |_, write|
        yield if block_given?
        write.tags = tags
        "value"
      end
    end

    # A machine knows the versions of tags that it has read before.
    def know(*tags, cache: @one)
      cache.write("known", 1, tags: tags)
    end

    on_both_paths "a value is stored with the versions of tags that the machine knew before the block" do
      know("red", "round")
      WAYS.each_with_index do |options, number|
        compute(number, %w[red round], **options)
        assert_equal "value", @two.read(number), options
      end
      @two.delete_tagged("round")
      assert_equal([nil] * WAYS.size, WAYS.each_index.map { |number| @two.read(number) })
      assert_equal([nil] * WAYS.size, WAYS.each_index.map { |number| far(@one, number) })
    end

    test "so it is with a subscriber of the events" do
      know("red")
      events_of { compute("key", "red") }
      assert_equal "value", @two.read("key")
      @two.delete_tagged("red")
      assert_nil far(@one, "key")
    end

    on_both_paths "a tag that another machine deletes while the block runs deletes the value, for good" do
      know("red")
      WAYS.each_with_index do |options, number|
        know("red")
        compute(number, "red", **options) { @two.delete_tagged("red") }
        2.times { assert_nil @two.read(number), options }
        assert_nil far(@one, number), options
      end
    end

    on_both_paths "so does one that neither machine knew, which is not stored the first time" do
      compute("key", "new") { @two.delete_tagged("new") }
      assert_nil @two.read("key")
      assert_nil far(@one, "key")
      compute("other", "newer")
      assert_nil @two.read("other"), "it cannot be known whether the tag was deleted while the block ran"
      @one.cache.delete("other")
      compute("other", "newer")
      assert_equal "value", @two.read("other")
    end

    on_both_paths "a process of the same machine knows what others have read" do
      in_child { know("red") }
      compute("key", "red")
      assert_equal "value", @two.read("key")
    end

    on_both_paths "the versions of another boot, or of another clock, are not known" do
      know("red")
      Larder::Store::TwoLevels::SeenTags.stub(:origin, "another") { compute("key", "red") }
      assert_nil @two.read("key")
    end

    test "while the remote store does not answer, the block's value is the answer" do
      know("red")
      @server.stop
      reports_of { assert_equal "value", compute("key", "red") }
    end
  end
end
