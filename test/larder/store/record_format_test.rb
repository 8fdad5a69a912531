# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

class LarderStoreRecordFormatTest < ActiveSupport::TestCase
  include TemporaryDirectory

  Entry = ActiveSupport::Cache::Entry

  def format(**options)
    path = File.join(directory, "#{options.hash}.larder")
    ActiveSupport::Cache::LarderStore.new(path, size: 1 << 20, **options).level.format
  end

  def record(value, options = {}, format: self.format)
    format.record_of(Entry.new(value, **options), options)
  end

  test "a plain value is its own bytes, and any other those of the coder" do
    assert_equal "text", record("text").first
    assert_same String, format.load(record(String).first).value
  end

  test "a coder of the caller makes all bytes, and a serializer by name those of Arrays and objects" do
    coder = Class.new do
      def dump(entry) = "dumped #{entry.value}"
      def load(bytes) = bytes
    end
    assert_equal "dumped text", record("text", format: format(coder: coder.new)).first
    named = format(serializer: :marshal)
    assert_equal "text", record("text", format: named).first
    assert_equal [1], named.load(record([1], format: named).first).value
  end

  test "a plain value is compressed only if it becomes smaller" do
    long = "text " * 500
    assert_operator record(long, { compress: true, compress_threshold: 100 }).first.bytesize, :<, 500
    random = Random.bytes(500)
    assert_equal random, record(random, { compress: true, compress_threshold: 100 }).first
    assert_equal long, record(long, { compress: true, compress_threshold: 5000 }).first
  end

  test "a value that is kept has the longest time, and how long it took to compute" do
    options = { expires_in: 60, stale_while_revalidate: 5, stale_if_error: 9, race_condition_ttl: 7 }
    assert_equal [9000, 0], record("text", options)[3, 2]
    assert_equal [0, 250], format.record_of(Entry.new("text"), { early_refresh: true }, 250)[3, 2]
    assert_equal 0xffff_ffff, format.record_of(Entry.new("text"), { early_refresh: true }, 1 << 40)[4]
    assert_equal 3, record("text", { expires_in: 60, race_condition_ttl: 7 }).size
  end

  test "a counter of the engine is an Integer, but not where another coder may have made the bytes" do
    assert_equal [-12, true], [format.load("-12").value, format.counter?("-12")]
    refute format.counter?("9" * 20)
    refute format(coder: Marshal).counter?("12")
  end

  test "an expired entry is an old value only if it was kept for that" do
    at = Time.now.to_f - 5
    assert_equal "old", format.kept_entry_of(["old", at, nil, true]).value
    assert_nil format.kept_entry_of(["old", at, nil])
    assert_equal "fresh", format.kept_entry_of(["fresh", at + 60, nil]).value
    assert_nil format.kept_entry_of(nil)
  end

  test "the expiry of a record is that of its entry, whatever the bytes say" do
    bytes = record(String, { expires_in: 5 }).first
    assert_equal 4_000_000_000.0, format.entry_of([bytes, 4_000_000_000.0]).expires_at
  end

  test "a coder must make a String" do
    coder = Object.new
    %i[dump load].each { |name| coder.define_singleton_method(name) { |*| 1 } }
    error = assert_raises(TypeError) { record(1, format: format(coder: coder)) }
    assert_includes error.message, "Integer"
  end
end
