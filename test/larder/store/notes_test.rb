# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

class LarderStoreNotesTest < ActiveSupport::TestCase
  include TemporaryCaches

  def notes
    @notes ||= Larder::Store::TwoLevels::Notes.new(cache, Larder::Store::Records.new(cache))
  end

  test "it reads what it wrote, of one kind and under keys of any length" do
    keys = ["k", "\xFF".b, "ä", "k" * 4095, "k" * 4094]
    written = keys.to_h { |key| [key, key.byteslice(0, 9).b] }
    notes.write("time", written, 60)
    assert_equal written, notes.read("time", [*keys, "other"])
    assert_empty notes.read("seen", keys)
    assert(cache.each_key.all? { |key| key.start_with?(Larder::Store::TwoLevels::Notes::PREFIX) })
  end

  test "they end with their time" do
    notes.write("time", { "k" => "bytes" }, 0.001)
    sleep 0.01
    assert_empty notes.read("time", ["k"])
  end

  test "reads of them are not counted" do
    notes.write("time", { "k" => "bytes" }, 60)
    before = cache.stats.values_at(:hits, :misses)
    notes.read("time", %w[k other])
    assert_equal before, cache.stats.values_at(:hits, :misses)
  end
end
