# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

# The policy of a miss, over a store and a level that only note what they are asked.
class LarderStoreComputationTest < ActiveSupport::TestCase
  Entry = ActiveSupport::Cache::Entry
  OLD = Entry.new("old", expires_at: Time.now - 10)

  # In place of a LarderStore.
  class Store
    attr_reader :level, :written, :reports, :events

    def initialize(level)
      @level = level
      @written, @reports, @events = Array.new(3) { [] }
    end

    def generate(call)
      options = call.options.dup
      [yield(call.name, Larder::Store::WriteOptions.new(options).of(call, level)), options]
    end

    def write(_name, value, _options)
      stamp = Larder::Store::Flights.begun&.stamp_of(level.records, "key", follows_read: false)
      @written << [value, stamp]
    end

    def answered_with_old_value(error) = @reports << error.class
    def announce(event, _call, more = {}) = @events << [event, more[:reason]]
  end

  # In place of a LocalLevel.
  Level = Struct.new(:old, :stamps, :records, :back_offs) do
    def kept(_call) = old
    def stamp(_call = nil) = stamps.shift
    def back_off(call, _began, entry) = back_offs << [call.key, entry]
  end

  def store
    @store ||= Store.new(Level.new(nil, %w[before after], Object.new, []))
  end

  def value(**options, &block)
    call = Larder::Store::Call.new("key", "key", options)
    Larder::Store::Computation.new(store, call, block).value
  end

  test "the value of the block is stored, and is the answer" do
    assert_equal("new", value { "new" })
    assert_equal [["new", nil]], store.written
  end

  test "a nil is stored, unless it is to be skipped" do
    assert_nil(value { nil })
    assert_nil(value(skip_nil: true) { nil })
    assert_equal [[nil, nil]], store.written
  end

  test "a value with tags has the stamp of before its block, also if the block sets them" do
    value(tags: "red") { "call" }
    store.level.stamps.replace(%w[before after])
    value { |_, options| (options.tags = "red") && "block" }
    store.level.stamps.replace(%w[before after])
    value(stale_if_error: 5) { |_, options| (options.tags = "red") && "both" }
    assert_equal [%w[call before], %w[block before], %w[both before]], store.written
  end

  test "an object that cannot be a tag is an error before the block runs" do
    assert_raises(ArgumentError) { value(tags: Object.new) { flunk } }
  end

  test "an error of the block is answered with the old value for stale_if_error, and reported" do
    store.level.old = OLD
    assert_equal("old", value(stale_if_error: 60) { raise IOError })
    assert_equal [[IOError], [["stale.larder", :stale_if_error]]], [store.reports, store.events]
    assert_equal [["key", OLD]], store.level.back_offs
    assert_empty store.written
  end

  test "without the option, without an old value, or if that is too old, it is raised" do
    assert_raises(IOError) { value(stale_if_error: 60) { raise IOError } }
    store.level.old = OLD
    assert_raises(IOError) { value { raise IOError } }
    assert_raises(IOError) { value(stale_if_error: 5) { raise IOError } }
    assert_empty store.reports
  end

  test "an error of the write is raised, as the block has ended" do
    store.level.old = OLD
    store.define_singleton_method(:write) { |*| raise IOError }
    assert_raises(IOError) { value(stale_if_error: 60) { "new" } }
  end

  test "an exception that is not of the block is raised" do
    store.level.old = OLD
    assert_raises(NotImplementedError) { value(stale_if_error: 60) { raise NotImplementedError } }
    runs = Queue.new
    thread = Thread.new { value(stale_if_error: 60) { (runs << true) && sleep } }
    thread.report_on_exception = false
    runs.pop && thread.raise(IOError)
    assert_raises(IOError) { thread.value }
  end

  test "the time of the block is known" do
    call = Larder::Store::Call.new("key", "key", {})
    computation = Larder::Store::Computation.new(store, call, ->(*) { sleep(0.01) })
    computation.value
    assert_operator computation.spent, :>=, 0.01
  end
end
