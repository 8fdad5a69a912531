# frozen_string_literal: true

# Larder::Cache across fork: the child goes on with the same object, and nothing it does harms the parent.

require "test_helper"
require "socket"
require "support/openers_lock"

class LarderCacheForkTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes
  include OpenersLock

  test "a child goes on with the parent's cache" do
    cache.set("parent", "p")
    assert_equal ["p", true, 1], in_child { [cache.get("parent"), cache.set("child", "c"), cache.increment("n")] }
    assert_equal "c", cache.get("child")
    assert_equal 2, cache.increment("n")
  end

  test "a child that may not use the file says why, and how it can" do
    skip "needs root" unless Process.euid.zero?
    cache.set("k", "v")
    File.chmod(0o755, File.dirname(cache.path))
    messages = in_child do
      Process::UID.change_privilege(65_534)
      2.times.map { cache.set("k", "w") rescue $!.message } # rubocop:disable Style/RescueModifier
    end
    messages.each do |message|
      assert_match(/k could not be changed: .*Permission denied.* this process runs as nobody: .*chown /, message)
    end
  end

  test "grandchildren go on too, and each process is one of its own" do
    cache.set("parent", "p")
    count = in_child do
      cache.set("child", "c")
      in_child do
        cache.set("grandchild", "g")
        cache.stats[:processes]
      end
    end
    assert_equal 3, count
    assert_equal({ "child" => "c", "grandchild" => "g" }, cache.get_multi(%w[child grandchild]))
    cache.set("last", "v")
    assert_equal 1, cache.stats[:processes]
  end

  test "a child that closes leaves the parent's cache open" do
    cache.set("k", "v")
    in_child { cache.close }
    assert_equal "v", cache.get("k")
    in_child { 3.times { open_cache.get("k") } && @caches.each(&:close).size }
    assert cache.set("k", "w")
  end

  test "a parent that closes leaves the child's cache open" do
    reader, writer = IO.pipe
    cache.set("k", "v")
    pid = fork do
      reader.read(1)
      exit!(cache.get("k") == "v" && cache.set("k", "w") ? 0 : 1)
    end
    cache.close
    writer.write("g")
    assert_predicate wait_for(pid), :success?
    assert_equal "w", open_cache.get("k")
  ensure
    [reader, writer].each(&:close)
  end

  test "children that exit in every way harm nothing" do
    ["exit", "exit!", "exit(3)", "raise 'x'", "abort", "Process.kill(:KILL, Process.pid)", "throw :x",
     "cache.close; exit", "exec('true')"].each do |leave|
      run_ruby(<<~RUBY, path_of)
        cache = Larder::Cache.open(ARGV[0], size: #{SIZE})
        cache.set("parent", "p")
        pid = fork do
          $stderr.reopen(File::NULL)
          cache.set("child", "c")
          #{leave}
        end
        Process.wait(pid)
        abort "lost" unless cache.get("parent") == "p" && cache.get("child") == "c" && cache.set("k", "v")
        abort "unsound" unless cache.verify[:problems] == 0
      RUBY
    end
    assert_equal "c", cache.get("child")
  end

  test "a child that never calls exits and harms nothing" do
    run_ruby(<<~RUBY, path_of)
      cache = Larder::Cache.open(ARGV[0], size: #{SIZE})
      cache.set("k", "v")
      Process.wait(fork { exit })
      Process.wait(fork { cache.close })
      abort "lost" unless cache.get("k") == "v" && cache.set("k", "w")
    RUBY
    assert_equal "w", cache.get("k")
  end

  test "a daemon goes on with the cache" do
    run_ruby(<<~RUBY, path_of)
      cache = Larder::Cache.open(ARGV[0], size: #{SIZE})
      cache.set("before", "b")
      Process.daemon(true)
      cache.set("daemon", cache.get("before") + "d")
    RUBY
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + LONGEST
    sleep(0.01) until cache.exist?("daemon") || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    assert_equal "bd", cache.get("daemon")
  end

  test "fork in the middle of other threads' calls leaves both sides usable" do
    @cache = open_cache(lock_timeout: LONGEST)
    stop = false
    threads = 4.times.map do |i|
      Thread.new do
        until stop
          cache.set("t#{i}", "v" * 300_000)
          cache.get("t#{i}")
          cache.increment("n#{i}")
          open_cache("other#{i}.larder", size: 1 << 20).close
        end
      end
    end
    results = 15.times.map do
      sleep(0.002)
      in_child do
        found = 4.times.map { |i| cache.set("c#{i}", "v" * 300_000) && cache.get("c#{i}")&.bytesize }
        usable = cache.increment("child").positive? && open_cache("other0.larder", size: 1 << 20).set("k", "v") &&
                 cache.close.nil? && cache.closed?
        [usable, found]
      end
    end
    stop = true
    threads.each { |thread| assert thread.join(LONGEST) }
    assert_equal [true] * 15, results.map(&:first)
    sizes = results.flat_map(&:last) # nil where the threads' values had pushed it out before it was read
    assert_equal [300_000], sizes.uniq.compact
    assert_equal "15", cache.get("child")
    assert_equal 0, cache.verify[:problems]
  end

  test "many children at once count without a loss" do
    pids = 8.times.map do
      fork do
        100.times { |i| cache.increment("n") && cache.set("k#{i}", "v" * (i * 50)) }
        exit!(0)
      end
    end
    pids.each { |pid| assert_predicate wait_for(pid), :success? }
    assert_equal "800", cache.get("n")
    assert_equal 0, cache.verify[:problems]
  end

  test "a child closes the file when it was forked while others were inside" do
    cache.set("k", "v")
    stop = false
    thread = Thread.new { cache.set("k", "v" * 700_000) until stop }
    mapped = Array.new(10) do
      sleep(0.002)
      in_child { mapped_after_close?(cache) }
    end
    stop = true
    assert thread.join(LONGEST)
    assert_equal [false] * 10, mapped
  end

  test "a child that was forked while another thread opened a cache can be rid of it" do
    mapped = Array.new(20) do |i|
      opener = Thread.new { open_cache("race#{i}.larder", size: 1 << 20) }
      sleep(0.001 * rand)
      answer = in_child do
        @caches&.each(&:close)
        GC.start
        maps.include?("race#{i}.larder")
      end
      opener.join(LONGEST)
      answer
    end
    assert_equal [false] * 20, mapped
  end

  # As while `larder resize --keep` copies the items: what a child deleted in the old file would come back.
  REMOVALS = {
    "delete" => ->(cache, key) { cache.delete(key) }, "delete_multi" => ->(cache, key) { cache.delete_multi([key]) },
    "delete_tagged" => ->(cache, key) { cache.delete_tagged(key) }, "clear" => ->(cache, _) { cache.clear },
    "set" => ->(cache, key) { cache.set(key, "new") }
  }.freeze

  test "a child that cannot open the file yet says that it has not deleted, and does so when it opens it" do
    REMOVALS.each_key { |key| cache.set(key, "old", tags: [key]) }
    children = REMOVALS.map { |key, remove| child_that_removes(key, remove) }
    holding_openers_lock(cache.path) do
      assert_equal ["Larder::OpenError"] * REMOVALS.size, answers_of(children)
      assert_equal ["old"] * REMOVALS.size, cache.get_multi(REMOVALS.keys).values
    end
    assert_equal ["nil"] * REMOVALS.size, answers_of(children)
    assert_empty cache.get_multi(REMOVALS.keys)
  ensure
    children&.each do |socket, pid|
      socket.close
      wait_for(pid)
    end
  end

  private

  # A child that has not used the cache. At the first sign it removes the key and answers the outcome; at the second
  # one it opens the file and answers what it reads.
  def child_that_removes(key, remove)
    mine, of_child = UNIXSocket.pair
    pid = fork do
      mine.close
      of_child.gets
      of_child.puts(outcome_of_removal(key, remove))
      of_child.gets
      sleep(0.005) until opened?
      of_child.puts(cache.get(key).inspect)
    ensure
      exit!
    end
    of_child.close
    [mine, pid]
  end

  def answers_of(children)
    sockets = children.map(&:first)
    sockets.each { |socket| socket.puts("go on") }
    sockets.map { |socket| socket.gets(chomp: true) }
  end

  def outcome_of_removal(key, remove)
    remove.call(cache, key).inspect
  rescue Larder::Error => error
    error.class.name
  end

  def opened?
    cache.set("other", "v")
  rescue Larder::OpenError
    false
  end

  def mapped_after_close?(cache)
    cache.close
    maps.include?(cache.path)
  end

  def maps
    File.readable?("/proc/self/maps") ? File.read("/proc/self/maps") : ""
  end
end
