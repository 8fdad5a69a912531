# frozen_string_literal: true

# Larder::Cache in many threads, in threads that are killed, in signal handlers, fibers and Ractors.

require "test_helper"
require "timeout"

class LarderCacheThreadsTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  # Opened before there are threads and handlers, which would open another one meanwhile.
  setup { cache }

  # A value that tells its key and is recognized when torn.
  def value_for(key, bytes)
    "#{key}:" * (bytes / (key.bytesize + 1) + 1)
  end

  def assert_whole(key, value)
    assert_equal "", value.delete_prefix("#{key}:").gsub("#{key}:", ""), "a torn or foreign value of #{key}"
  end

  test "threads read what threads wrote, whole" do
    sizes = [10, 3000, 20_000, 300_000]
    failures = 6.times.map do |number|
      Thread.new do
        random = Random.new(number)
        150.times do
          key = "key#{random.rand(8)}"
          case random.rand(4)
          when 0 then cache.set(key, value_for(key, sizes[random.rand(4)]))
          when 1 then cache.delete(key)
          when 2 then cache.get(key)&.then { |value| assert_whole(key, value) }
          else cache.get_multi(8.times.map { |i| "key#{i}" }).each { |k, value| assert_whole(k, value) }
          end
        end
        nil
      rescue Minitest::Assertion => e
        e
      end
    end.filter_map(&:value)
    assert_empty failures
    assert_equal 0, cache.verify[:problems]
  end

  test "threads that are killed inside calls leave the cache usable" do
    random = Random.new(4)
    60.times do |round|
      thread = Thread.new do
        loop do
          cache.set("large", value_for("large", 600_000))
          cache.get("large")
          cache.set_multi({ "a" => "1" * 300_000, "b" => "2" })
          cache.increment("n")
          cache.each_key.to_a
        end
      end
      sleep(random.rand(0.004))
      thread.kill
      assert thread.join(LONGEST), "round #{round} hung"
    end
    assert cache.set("after", "v")
    assert_equal "v", cache.get("after")
    cache.get("large")&.then { |value| assert_whole("large", value) }
    assert_equal 0, cache.verify[:problems]
  end

  test "Timeout ends calls and leaves the cache usable" do
    30.times do
      assert_raises(Timeout::Error) do
        Timeout.timeout(0.003) { loop { cache.set("k", "v" * 500_000) && cache.get("k") } }
      end
    end
    assert cache.set("k", "v")
    assert_equal "v", cache.get("k")
  end

  test "an exception that is masked until a call blocks is raised where the GVL is left" do
    masked = Queue.new
    thread = Thread.new do
      Thread.handle_interrupt(IndexError => :on_blocking) do
        masked << true
        loop { cache.set("k", "v" * 500_000) }
      end
    rescue IndexError
      :raised
    end
    cache
    masked.pop
    thread.raise(IndexError)
    assert_equal :raised, thread.join(LONGEST)&.value
  end

  test "masked exceptions do not keep a call from being made" do
    done = in_child do
      thread = Thread.new do
        Thread.handle_interrupt(IndexError => :never) do
          Thread.stop
          5.times { cache.set("k", "v" * 500_000) }
          cache.get("k").bytesize
        end
      rescue IndexError
        :late
      end
      Thread.pass until thread.stop?
      thread.raise(IndexError)
      thread.wakeup
      thread.join(LONGEST)&.value
    end
    assert_equal :late, done
    assert_equal 500_000, cache.get("k").bytesize
  end

  test "signal handlers may use the cache while a call is interrupted" do
    handled = in_child do
      count = 0
      trap(:USR1) do
        cache.set("signal", "s" * 300_000)
        count += 1 if cache.get("signal").bytesize == 300_000 && cache.increment("signals").positive?
      end
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + LONGEST
      sender = Thread.new { loop { Process.kill(:USR1, Process.pid) && sleep(0.001) } }
      until count >= 50 || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
        cache.set("k", "v" * 600_000)
        cache.get("k")
        cache.verify
      end
      sender.kill
      count
    end
    assert_operator handled, :>=, 50
    assert_equal 0, cache.verify[:problems]
  end

  test "a signal handler may close the cache that is in use" do
    raised = in_child do
      trap(:USR1) { cache.close }
      Thread.new { sleep(0.02) && Process.kill(:USR1, Process.pid) }
      begin
        loop { cache.set("k", "v" * 600_000) }
      rescue Larder::ClosedError => e
        e.class.name
      end
    end
    assert_equal "Larder::ClosedError", raised
  end

  test "other threads run while a large value is copied" do
    big = open_cache("big.larder", size: 128 << 20)
    value = "v" * big.max_value
    ticks = 0
    ticker = Thread.new { loop { (ticks += 1) && sleep(0.0001) } }
    before = ticks
    20.times { big.set("big", value) && big.get("big") }
    ticker.kill
    assert_operator ticks - before, :>, 5
  end

  test "fibers may use the cache" do
    fibers = 3.times.map do |i|
      Fiber.new do
        cache.set("f#{i}", "x" * 5000)
        Fiber.yield
        cache.get("f#{i}").bytesize
      end
    end
    fibers.each(&:resume)
    assert_equal [5000] * 3, fibers.map(&:resume)
  end

  test "Ractors open the cache each for itself" do
    cache.set("main", "m")
    output = run_ruby(<<~RUBY, path_of, options: ["-W0"])
      ractors = 3.times.map do |i|
        Ractor.new(ARGV[0], i) do |path, number|
          Larder::Cache.open(path, size: 16 << 20) do |cache|
            50.times { |n| cache.set("r\#{number}/\#{n}", "x" * 300_000) && cache.increment("count", ttl: 60) }
            [cache.get("main"), cache.each_key(prefix: "main").to_a]
          end
        end
      end
      print ractors.map { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }.inspect
    RUBY
    assert_equal [["m", ["main"]]].cycle.take(3).inspect, output
    assert_equal "150", cache.get("count")
  end
end
