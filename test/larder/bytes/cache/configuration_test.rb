# frozen_string_literal: true

# Larder::Cache.open(configuration:): caches of several configurations share a file, and believe only their own items.

require "test_helper"

class LarderCacheConfigurationTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  LARGEST = (1 << 64) - 1

  def of(configuration, **options)
    open_cache(configuration: configuration, **options)
  end

  test "a cache reads what its own configuration stored, in each way" do
    one, two, none = of(1), of(LARGEST), of(nil)
    one.set_multi({ "k" => "v", "l" => "w" })
    one.set("tagged", "v", tags: ["t"])
    one.set("large", "v" * 300_000)
    one.increment("n", initial: 5)
    [two, none].each do |other|
      assert_empty other.get_multi(["k", "l", "tagged", "large", "n"])
      ["k", "tagged", "large", "n"].each { |key| assert_nil other.get(key) }
      assert_not other.exist?("k")
      assert_nil other.ttl("k")
      assert_not other.touch("k", ttl: 5)
      assert_not other.cas("k", "v", "x")
      assert_not other.replace("k", "x")
    end
    assert_equal({ "k" => "v", "n" => "6" }, one.get_multi(["k", "n"]))
    assert_equal ["k", "l", "large", "n", "tagged"], two.each_key.sort
  end

  test "add and counters take an item of another configuration for absent" do
    one, two = of(1), of(2)
    one.set("lock", "held")
    one.increment("n", 3)
    assert two.add("lock", "mine")
    assert_equal ["mine", nil], [two.get("lock"), one.get("lock")]
    assert_equal 11, two.increment("n", initial: 10)
    assert_nil one.get("n")
  end

  test "a configuration is deployed and rolled back, and each deletes and overwrites what the other stored" do
    one, two = of(1), of(2)
    one.set_multi({ "a" => "old", "b" => "old", "c" => "old", "d" => "old" })
    one.set("e", "old", tags: ["t"])
    assert two.delete("a")
    two.set("b", "new")
    assert_equal 1, two.delete_multi(["c", "nobody"])
    two.delete_tagged("t")
    assert_equal({ "d" => "old" }, one.get_multi(["a", "b", "c", "d", "e"]))
    assert one.delete("b")
    assert_nil two.get("b")
    two.clear
    assert_nil one.get("d")
  end

  test "nil, 0 and no option are the same configuration, and it is not that of another" do
    of(0).set("k", "v")
    assert_equal ["v", "v", nil], [of(nil).get("k"), open_cache.get("k"), of(1).get("k")]
  end

  test "trust is that of the configuration" do
    one, two = of(1), of(2)
    one.trust_for(10)
    assert_equal [true, false, false, true], [one, two, of(nil), of(1)].map(&:trusted?)
  end

  test "other processes are of their own configuration, and children of their parent's" do
    one, two = of(1), of(2)
    one.set("k", "v")
    assert_equal(["v", nil, true], in_child { [one.get("k"), two.get("k"), two.set("k", "w")] })
    assert_equal [nil, "w"], [one.get("k"), two.get("k")]
    assert_equal "w\n", run_ruby(<<~RUBY, path_of)
      Larder::Cache.open(ARGV[0], configuration: 1) { |cache| cache.get("k") && abort }
      Larder::Cache.open(ARGV[0], configuration: 2) { |cache| puts cache.get("k") }
    RUBY
  end

  test "a lazy cache keeps its configuration when the file is made, removed and resized" do
    one, two = of(1, lazy: true), of(2, lazy: true)
    2.times do
      one.set("k", "v")
      assert_equal ["v", nil], [one.get("k"), two.get("k")]
      two.set("k", "w")
      assert_equal ["w", nil], [two.get("k"), one.get("k")]
      File.unlink(path_of)
      eventually { two.set("gone", "") && !one.get("k") && !two.get("k") }
    end
    one.set("k", "v")
    one.resize(2 * SIZE, keep: true)
    assert_equal ["v", nil], [one.get("k"), two.get("k")]
  end

  test "a cache whose configuration is not remembered any more misses and stores nothing, but deletes" do
    all = (1..9).map { |configuration| of(configuration) }
    stored = all.map { |cache| cache.set("probe", "v") }
    assert_equal [7, 2], [stored.count(true), stored.count(false)]
    lost, kept = all[stored.index(false)], all[stored.rindex(true)]
    kept.set("k", "v")
    assert_nil lost.get("k")
    error = assert_raises(Larder::FullError) { lost.trust_for(1) }
    assert_match(/seven other configurations.*path/, error.message)
    assert lost.delete("k")
    assert_nil kept.get("k")
  end

  test "an argument that is not a digest is named" do
    [-1, 1 << 64, 1.0, "1", :one, Object].each do |given|
      error = assert_raises(ArgumentError) { of(given) }
      assert_includes error.message, "configuration is #{given.inspect}; it takes an Integer from 0 to 2**64 - 1"
    end
    assert_not File.exist?(path_of)
  end
end
