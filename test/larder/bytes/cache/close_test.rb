# frozen_string_literal: true

# Closing a Larder::Cache: by its owner, by another thread, by the garbage collector, by the end of the process.

require "test_helper"

class LarderCacheCloseTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  CALLS = {
    get: ["k"], get_multi: [["k"]], set: %w[k v], add: %w[k v], replace: %w[k v], cas: %w[k v w],
    stamp: [], delete_tagged: ["t"], trust_for: [1], trusted?: [],
    set_multi: [{ "k" => "v" }], delete: ["k"], delete_multi: [["k"]], increment: ["k"], decrement: ["k"],
    touch: ["k"], exist?: ["k"], ttl: ["k"], clear: [], prune: [], stats: [], verify: [], size: [], max_value: [],
    max_pinned: [], pids: [], process: [], process_lives?: [0], resize: [8 << 20], fits_in?: [8 << 20],
    name_keyspaces: [], keep_statistics: [], item: ["k"], item_with_value: ["k"], other_sizes: [],
    items_from: [0], keys_from: [0], progress: [0], refusal: []
  }.freeze

  # Is the file mapped into this process?
  def mapped?(path)
    File.readlines("/proc/self/maps").any? { |line| line.chomp.end_with?(path) }
  end

  def skip_without_proc
    skip "needs /proc/self/maps" unless File.readable?("/proc/self/maps")
  end

  test "every public method is covered here" do
    apart = %i[close closed? path each_key each_item each_lease when_attached count_failure
               wanted_size]
    assert_equal (Larder::Cache.public_instance_methods - Object.public_instance_methods).sort,
                 (CALLS.keys + apart).sort
  end

  CALLS.each do |name, arguments|
    test "#{name} raises once the cache is closed" do
      cache.close
      error = assert_raises(Larder::ClosedError) { cache.public_send(name, *arguments) }
      assert_match(/closed/, error.message)
    end
  end

  test "large reads and writes raise once the cache is closed" do
    cache.close
    assert_raises(Larder::ClosedError) { cache.set("k", "v" * 500_000) }
    assert_raises(Larder::ClosedError) { cache.set_multi({ "k" => "v" * 500_000 }) }
    assert_raises(Larder::ClosedError) { cache.each_key.to_a }
    assert_raises(Larder::ClosedError) { cache.each_lease.to_a }
  end

  test "closing twice does nothing, and path stays" do
    assert_not_predicate cache, :closed?
    assert_nil cache.close
    assert_nil cache.close
    assert_predicate cache, :closed?
    assert_equal path_of, cache.path
  end

  test "a failure is not counted once the cache is closed, and nothing is raised" do
    cache.close
    assert_same cache, cache.count_failure
  end

  test "each_key ends with an error when the cache is closed in its block" do
    many = 20_000.times.to_h { |i| ["a rather long key of the many/#{i}", ""] }
    cache.set_multi(many)
    assert_raises(Larder::ClosedError) { cache.each_key { cache.close } }
  end

  test "the file is let go of when the last cache of it is closed" do
    skip_without_proc
    first = open_cache
    second = open_cache
    assert mapped?(path_of)
    first.close
    assert mapped?(path_of)
    second.close
    assert_not mapped?(path_of)
  end

  test "a failed open leaves nothing behind" do
    skip_without_proc
    File.write(path_of("foreign"), "x" * 100_000, perm: 0o600)
    3.times { assert_raises(Larder::OpenError) { Larder::Cache.open(path_of("foreign")) } }
    assert_not mapped?(path_of("foreign"))
    assert_empty(Dir["/proc/self/fd/*"].select { |fd| File.symlink?(fd) && File.readlink(fd) == path_of("foreign") })
  end

  test "caches that are forgotten are closed by the garbage collector" do
    skip_without_proc
    still_mapped = in_child do
      20.times { |i| Larder::Cache.open(path_of("gc#{i}.larder"), size: SIZE).set("k", "v") }
      Array.new(1000) { "clear the stack" }.map(&:upcase)
      GC.start
      20.times.count { |i| mapped?(path_of("gc#{i}.larder")) }
    end
    assert_operator still_mapped, :<, 3, "a reference or two may be left on the stack"
  end

  test "calls in other threads end or raise ClosedError when the cache is closed, and nothing hangs" do
    skip_without_proc
    10.times do |round|
      path = path_of("round#{round}.larder")
      shared = Larder::Cache.open(path, size: SIZE)
      shared.set("large", "x" * 700_000)
      threads = busy_threads(shared)
      sleep(0.01)
      shared.close
      ended = threads.map { |thread| thread.join(LONGEST)&.value }
      assert_equal [Larder::ClosedError] * threads.size, ended
      assert_not mapped?(path)
    end
  end

  test "a cache may be closed by many threads at once" do
    20.times do |round|
      shared = open_cache("many#{round}.larder", size: 1 << 20)
      8.times.map { Thread.new { shared.close } }.each(&:join)
      assert_predicate shared, :closed?
    end
  end

  test "a process that ends closes what it left open, so that the file is clean" do
    path = path_of("end.larder")
    run_ruby(<<~RUBY, path)
      cache = Larder::Cache.open(ARGV[0], size: #{SIZE})
      at_exit { cache.set("at exit", "still open") }
      cache.set("k", "v")
    RUBY
    reopened = open_cache("end.larder")
    assert_equal "v", reopened.get("k")
    assert_equal "still open", reopened.get("at exit")
    assert_equal 1, reopened.stats[:processes]
    assert_equal 0, reopened.verify[:problems]
  end

  test "a process may end while its threads are inside calls" do
    run_ruby(<<~RUBY, path_of("end.larder"))
      cache = Larder::Cache.open(ARGV[0], size: #{SIZE})
      8.times { |i| Thread.new { loop { cache.set("k\#{i}", "v" * 300_000); cache.get("k\#{i}") } } }
      sleep(0.05)
    RUBY
    assert_equal 0, open_cache("end.larder").verify[:problems]
  end

  private

  # Each loops over one kind of call and ends with the class of what it raised.
  def busy_threads(shared)
    calls = [-> { shared.set("large", "x" * 700_000) }, -> { shared.get("large") }, -> { shared.verify },
             -> { shared.each_key.to_a }, -> { shared.increment("n") }, -> { shared.get_multi(%w[large n]) }]
    calls.map do |call|
      Thread.new do
        loop(&call)
      rescue Larder::Error => e
        e.class
      end
    end
  end
end
