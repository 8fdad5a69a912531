# frozen_string_literal: true

# Larder::Cache while another process is stopped inside a write and holds a shard's lock: writers wait without the GVL,
# then are refused; readers and deletes go on.

require "test_helper"
require "timeout"
require "larder/store/records"

class LarderCacheContentionTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  LARGE = 64 << 20
  KEYS = 512

  teardown do
    next unless @writer

    Process.kill(:KILL, @writer)
    Process.wait(@writer)
  end

  # Opens the cache and stops a child while it holds a shard's lock on its way through all shards.
  def stop_writer(lock_timeout:)
    contended = open_cache(size: LARGE, lock_timeout: lock_timeout)
    @value = "x" * contended.max_value
    start_writer(contended)
    200.times do
      sleep(0.003 * rand)
      Process.kill(:STOP, @writer)
      sleep(0.001) until File.read("/proc/#{@writer}/stat")[/\) (\S)/, 1] == "T"
      return contended if elsewhere(contended) { |other| !other.set("stuck", @value) }

      Process.kill(:CONT, @writer)
    end
    flunk "the writer was never stopped inside a write"
  end

  # A child that stores without end. It has attached itself by then: stopped on its way there, it would hold the lock
  # that others need for opening.
  def start_writer(contended)
    reader, writer = IO.pipe
    @writer = fork do
      contended.set("stuck", @value)
      writer.write("attached")
      writer.close
      loop { contended.set("stuck", @value) }
    end
    writer.close
    assert reader.wait_readable(LONGEST)
    reader.close
  end

  # Another process with a handle of its own, for a handle remembers which lock it waited for in vain.
  def elsewhere(contended)
    in_child do
      contended.close
      Larder::Cache.open(contended.path, lock_timeout: 0.02) { |other| yield other }
    end
  end

  # A key whose shard is the one the stopped writer has locked.
  def locked_key(contended)
    found = elsewhere(contended) do |other|
      KEYS.times.map { |i| "n#{i}" }.find do |key|
        other.increment(key)
        false
      rescue Larder::BusyError
        true
      end
    end
    found || flunk("no key is in the locked shard")
  end

  setup { skip "needs /proc" unless File.exist?("/proc/self/stat") }

  test "a store that cannot have the lock is refused, and the old value is gone" do
    contended = stop_writer(lock_timeout: 0.02)
    assert_equal false, contended.set("stuck", @value)
    assert_nil contended.get("stuck")
    assert_equal false, contended.exist?("stuck")
    assert_equal ["stuck"], contended.set_multi({ "stuck" => @value })
  end

  test "other methods of a shard that is locked: increment raises, deletes and reads go on" do
    contended = stop_writer(lock_timeout: 0.02)
    key = locked_key(contended)
    error = assert_raises(Larder::BusyError) { contended.increment(key) }
    assert_match(/its owner is alive but stopped.*key "#{key}"/, error.message)
    assert_equal false, contended.set(key, "v")
    assert_equal false, contended.add(key, "v")
    assert_equal false, contended.touch(key, ttl: 5)
    assert_includes [true, false], contended.delete(key)
    assert_nil contended.get(key)
  end

  test "of the methods for the whole file, those that lock the shards raise, and clear does not wait" do
    contended = stop_writer(lock_timeout: 0.02)
    assert_raises(Larder::BusyError) { contended.prune }
    assert_raises(Larder::BusyError) { contended.verify }
    assert_kind_of Hash, contended.stats
    assert_kind_of Array, contended.each_key.to_a
    contended.set("n", "1")
    assert_same contended, contended.clear
    assert_nil contended.get("n")
  end

  test "of two stores of one key in a batch the later one wins, whatever others lock" do
    contended = open_cache(size: 1 << 20)
    @value = "x" * 60_000
    start_writer(contended)
    earlier = 20_000.times.count do |i|
      pairs = {}.compare_by_identity # so that it can have two equal keys
      pairs["key".dup] = "first #{i}"
      pairs["other"] = "o" * 300
      pairs["key".dup] = "second #{i}"
      contended.set_multi(pairs)
      contended.get("key")&.start_with?("first")
    end
    assert_equal 0, earlier
  end

  test "set_multi stores what it can and names the rest" do
    contended = stop_writer(lock_timeout: 0.02)
    pairs = 32.times.to_h { |i| ["pair#{i}", "v#{i}"] }
    refused = contended.set_multi(pairs)
    assert_equal pairs.except(*refused), contended.get_multi(pairs.keys)
  end

  test "other threads run while one waits for a lock" do
    contended = stop_writer(lock_timeout: 0.5)
    ticks = 0
    ticker = Thread.new { loop { (ticks += 1) && sleep(0.001) } }
    assert_equal false, contended.set("stuck", @value)
    ticker.kill
    assert_operator ticks, :>, 20
  end

  test "a small write waits without the GVL too" do
    contended = stop_writer(lock_timeout: 0.3)
    key = locked_key(contended)
    ticks = 0
    ticker = Thread.new { loop { (ticks += 1) && sleep(0.001) } }
    assert_equal false, contended.set(key, "small")
    ticker.kill
    assert_operator ticks, :>, 20
  end

  test "a lease is taken and ended without the GVL too, and leases of many keys wait for no lock" do
    records = Larder::Store::Records.new(open_cache(size: LARGE, lock_timeout: 0.3))
    leases = KEYS.times.to_h { |i| ["n#{i}", lease_over_value(records, "n#{i}")] }
    contended = stop_writer(lock_timeout: 0.3)
    key = locked_key(contended)
    waits = contended.stats[:lock_waits]
    assert_includes 1...KEYS, records.leases(KEYS.times.map { |i| "other#{i}" }, 1000, nil).size
    assert_equal waits, contended.stats[:lock_waits]
    # Each in a process of its own, for a handle remembers which lock it waited for in vain.
    assert_operator in_child { ticks { records.lease_end(key, leases[key], 0, nil) } }, :>, 20
    assert_nil contended.get(key)
    assert_operator in_child { ticks { records.lease(key, 1000, nil, nil) } }, :>, 20
  end

  # Takes the lease of a key whose value stays.
  def lease_over_value(records, key)
    records.set(key, ["1", 0, 0], nil)
    _, value = records.lease(key, 60_000, nil, nil)
    status, lease = records.lease(key, 60_000, value, nil)
    assert_equal Larder::Store::Records::TAKEN, status
    lease
  end

  # How often another thread runs during the block.
  def ticks
    count = 0
    ticker = Thread.new { loop { (count += 1) && sleep(0.001) } }
    sleep(0.001) until count.positive?
    before = count
    yield
    count - before
  ensure
    ticker.kill
  end

  test "threads that wait for a lock can be killed and timed out" do
    contended = stop_writer(lock_timeout: 0.2)
    thread = Thread.new { loop { contended.set("stuck", @value) } }
    sleep(0.05)
    thread.kill
    assert thread.join(LONGEST)
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { loop { contended.set("stuck", @value) } } }
    assert_predicate contended.stats[:processes], :positive?
  end

  test "a cache that is closed while a thread waits is closed when it has waited" do
    contended = stop_writer(lock_timeout: 0.2)
    waiter = Thread.new { contended.set("stuck", @value) }
    sleep(0.01) until waiter.stop?
    contended.close
    assert_predicate contended, :closed?
    assert_equal false, waiter.join(LONGEST)&.value
    assert_raises(Larder::ClosedError) { contended.get("stuck") }
    assert_no_match(/#{contended.path}$/, File.read("/proc/self/maps"))
  end

  test "a child of a process that is closing closes the file, though the call that was waited for is not in it" do
    contended = stop_writer(lock_timeout: 5)
    waiter = Thread.new { contended.set("stuck", @value) }
    sleep(0.01) until waiter.stop?
    contended.close
    mapped = in_child do
      contended.close
      File.read("/proc/self/maps").include?(contended.path)
    end
    Process.kill(:CONT, @writer)
    assert waiter.join(LONGEST)
    assert_equal false, mapped
  end

  test "a String that another thread changes while it is waited is stored as it was" do
    contended = stop_writer(lock_timeout: 5)
    key = +"stuck"
    value = @value.dup
    waiter = Thread.new { contended.set(key, value) }
    sleep(0.01) until waiter.stop?
    key.replace("other")
    value.replace("y" * 100)
    Process.kill(:KILL, @writer)
    Process.wait(@writer)
    @writer = nil
    assert_equal true, waiter.join(LONGEST)&.value
    assert_equal @value, contended.get("stuck")
    assert_nil contended.get("other")
  end

  test "when the owner goes on or dies, writers do" do
    contended = stop_writer(lock_timeout: 0.2)
    Process.kill(:CONT, @writer)
    assert(Timeout.timeout(LONGEST) { sleep(0.01) until contended.set("stuck", @value) } || true)
    Process.kill(:KILL, @writer)
    Process.wait(@writer)
    @writer = nil
    assert contended.set("stuck", @value)
    assert_equal @value, contended.get("stuck")
    assert_equal 0, contended.verify[:problems]
  end
end
