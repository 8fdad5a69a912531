# frozen_string_literal: true

require "support/store_case"
require "larder/metrics"

module Larder
  class Metrics
    class SourceTest < StoreCase
      test "a file is read again after it was replaced, and not after it was removed" do
        source = Source.new(path_of)
        assert_raises(OpenError) { source.read(&:stats) }
        sizes = [1 << 20, 2 << 20].map do |size|
          Cache.open(path_of, size: size) { |cache| cache.set("a", "b") }
          found = source.read(&:stats)
          FileUtils.rm(path_of)
          assert_raises(OpenError) { source.read(&:stats) }
          [found[:size_bytes], found[:items]]
        end
        assert_equal [[1 << 20, 1], [2 << 20, 1]], sizes
        assert_not File.exist?(path_of)
      ensure
        source.close
      end

      test "a store is read through its own cache, and its file is not made" do
        made = ActiveSupport::Cache.lookup_store(:larder_store, path_of, { size: SIZE })
        source = Source.new(made)
        error = assert_raises(OpenError) { source.read(&:stats) }
        assert_equal "there is no file at #{path_of}: the application creates it at its first use", error.message
        assert_empty Dir.children(directory)
        made.write("a", 1)
        assert_same made.cache, source.read(&:itself)
      end

      test "a child process that was forked reads on" do
        source = Source.new(store.cache.path)
        store.write("a", 1)
        counts = [source.read(&:stats), in_child { source.read(&:stats) }].map { |stats| stats[:sets] }
        assert_equal [1, 1], counts
      ensure
        source.close
      end

      test "an object that is neither a store nor a path is refused" do
        other = ActiveSupport::Cache::MemoryStore.new
        message = assert_raises(ArgumentError) { Source.new(other) }.message
        assert_equal "metrics are those of a LarderStore or of a file, not of ActiveSupport::Cache::MemoryStore: set " \
                     "config.cache_store = :larder_store, or give a store or a path as cache:", message
        assert_raises(ArgumentError) { Source.new(7) }
        assert_raises(ArgumentError) { Source.new("") }
        assert_match(/there is no Rails.cache/, assert_raises(ArgumentError) { Source.new(nil).path }.message)
      end
    end
  end
end
