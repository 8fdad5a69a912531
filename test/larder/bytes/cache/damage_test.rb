# frozen_string_literal: true

# Larder::Cache over a file that others damage while it is open: never a wrong value, never a crash, and clear answers.

require "fiddle"
require "test_helper"

class LarderCacheDamageTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  # A value that tells its key.
  def value_for(key)
    "#{key}:" * 200
  end

  def fill
    @keys = 300.times.map { |i| "key#{i}" }
    assert_equal [], cache.set_multi(@keys.to_h { |key| [key, value_for(key)] })
    assert cache.set("large", "x" * 600_000)
  end

  def assert_true_or_missing
    cache.get_multi(@keys).each { |key, value| assert_equal value_for(key), value }
    @keys.each { |key| assert_includes [nil, value_for(key)], cache.get(key) }
    assert_includes [nil, "x" * 600_000], cache.get("large")
  end

  # Runs every method; what it raises is Larder's.
  def assert_answers
    calls = [-> { cache.set("k", "v") }, -> { cache.set("large", "y" * 600_000) }, -> { cache.delete("key1") },
             -> { cache.increment("n") }, -> { cache.touch("key2", ttl: 5) }, -> { cache.exist?("key3") },
             -> { cache.cas("k", "v", "w") }, -> { cache.set_multi({ "a" => "1" }) }, -> { cache.prune },
             -> { cache.each_key.first(5) }, -> { cache.stats }, -> { cache.verify }, -> { cache.clear }]
    calls.each do |call|
      call.call
    rescue Larder::DamagedError, Larder::FullError, Larder::BusyError => e
      assert_not_empty e.message
    end
  end

  def usable_again?
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + LONGEST
    until cache.set("again", "v") && cache.get("again") == "v"
      return false if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep(0.05)
    end
    true
  end

  test "a file that was replaced by a foreign one gives misses, and what is more than a read raises" do
    fill
    File.delete(path_of, "#{path_of}.lock")
    File.write(path_of, "foreign")
    sleep(0.25) # the path is looked at five times a second
    assert_raises(Larder::DamagedError, Larder::OpenError) { cache.delete("a") }
    assert_equal [nil, {}, false, nil],
                 [cache.get("key1"), cache.get_multi(["key1"]), cache.exist?("key1"), cache.ttl("key1")]
    [-> { cache.set("k", "v") }, -> { cache.add("k", "v") }, -> { cache.replace("k", "v") },
     -> { cache.cas("k", "v", "w") }, -> { cache.touch("k", ttl: 5) }, -> { cache.increment("n") },
     -> { cache.delete("k") }, -> { cache.delete_multi(["k"]) }, -> { cache.clear }, -> { cache.prune },
     -> { cache.each_key.to_a }, -> { cache.stats }, -> { cache.verify }].each do |call|
      assert_raises(Larder::DamagedError, Larder::OpenError, &call)
    end
    assert_raises(Larder::DamagedError, Larder::OpenError) { cache.resize(2 << 20) }
    assert_equal "foreign", File.read(path_of)
  end

  test "a file that is truncated to nothing gives misses and is replaced" do
    fill
    File.truncate(path_of, 0)
    assert_true_or_missing
    assert_answers
    assert usable_again?
    assert_equal 0, cache.verify[:problems]
  end

  test "a file that is cut in the middle gives misses and is replaced" do
    fill
    File.truncate(path_of, cache.size / 2)
    assert_true_or_missing
    assert_answers
    assert usable_again?
  end

  test "a file that is truncated while a large value is copied without the GVL harms no one" do
    outcomes = 10.times.map do |round|
      in_child do
        opened = open_cache("cut#{round}.larder")
        opened.set("large", "x" * 900_000)
        reader = Thread.new { 200.times.map { opened.get("large") }.uniq }
        sleep(0.002 * rand)
        File.truncate(path_of("cut#{round}.larder"), 4096)
        reader.value - [nil, "x" * 900_000]
      end
    end
    assert_equal [[]] * 10, outcomes
  end

  # In the thread that calls it.
  def block_sigbus
    set = Array.new(128, 0)
    number = Signal.list.fetch("BUS") - 1
    set[number / 8] = 1 << (number % 8)
    block = RbConfig::CONFIG["host_os"].include?("darwin") ? 1 : 0
    types = [Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP]
    mask = Fiddle::Function.new(Fiddle::Handle::DEFAULT["pthread_sigmask"], types, Fiddle::TYPE_INT)
    assert_equal 0, mask.call(block, set.pack("C*"), nil)
  end

  test "a truncated file harms no thread that has SIGBUS blocked, nor one that was made by it" do
    answers = in_child do
      opened = open_cache("blocked.larder")
      opened.set("k", "v")
      File.truncate(path_of("blocked.larder"), 0)
      Thread.new do
        block_sigbus
        Thread.new { opened.get("k") }.value.inspect + opened.get("k").inspect
      end.value
    end
    assert_equal "nilnil", answers
  end

  test "bytes that are overwritten make misses, never wrong values" do
    fill
    random = Random.new(5)
    File.open(path_of, "r+b") do |file|
      2000.times do
        file.seek(8192 + random.rand(cache.size - 8192))
        file.write(random.bytes(1 + random.rand(16)))
      end
    end
    assert_true_or_missing
    assert_answers
    assert cache.clear
    assert usable_again?
  end
end
