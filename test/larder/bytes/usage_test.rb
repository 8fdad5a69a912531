# frozen_string_literal: true

require "test_helper"

module Larder
  class UsageTest < ActiveSupport::TestCase
    include Processes

    setup do
      @directory = Dir.mktmpdir
      @path = File.join(@directory, "u.larder")
    end

    teardown { FileUtils.remove_entry(@directory) }

    test "a cache that keeps no statistics has none" do
      Cache.open(@path, size: 1 << 20) { |cache| cache.set("users/1", "Ada") }
      assert_nil Usage.read(@path)
      assert_equal ["u.larder", "u.larder.lock"], Dir.children(@directory).sort
    end

    test "counts of keyspaces, of the cache and of minutes come from all calls" do
      counted { |cache| work(cache) }
      usage = Usage.read(@path)
      users = usage.keyspaces.find { |keyspace| keyspace.name == "users" }.counts
      assert_equal [3, 1, 1, 3], [users.hits, users.misses, users.stores, users.stored_bytes]
      assert_equal [4, 0.75, 3.0, 0], [users.reads, users.hit_ratio, users.mean_bytes, users.reads_error]
      assert_equal 1, users.computes
      assert_operator users.mean_compute, :>=, 0
      assert_equal %w[users books], usage.keyspaces.map(&:name)
      whole = usage.last(3600).whole
      assert_equal [3, 1, 2], [whole.hits, whole.misses, whole.stores]
      assert_equal 3, usage.last(3600).keyspaces["users"].hits
      assert_equal 3, usage.last(86_400).keyspaces["users"].hits
      assert_equal 0, usage.last(3600, now: Time.now + 7200).whole.hits
    end

    test "an error after the cache was closed by another thread names its file" do
      counted { |cache| work(cache) }
      output = run_ruby(<<~RUBY, @path, env: { "MALLOC_PERTURB_" => "90" }) # glibc overwrites what is freed
        cache = Larder::Cache.open(ARGV[0], size: 1 << 20, statistics: true)
        cache.set("users/1", "Ada")
        File.open("\#{ARGV[0]}.stats").flock(File::LOCK_EX)
        keeper = Thread.new { cache.keep_statistics }
        sleep(0.01) until keeper.stop?
        cache.close
        print keeper.value.message
      RUBY
      assert_match(/\A#{Regexp.escape(@path)}\.stats: the cache is being made, .* by a process\z/, output)
    end

    test "statistics without hours have all else" do
      counted { |cache| work(cache) }
      whole, part = [true, false].map { |hours| Usage.read(@path, hours: hours) }
      assert_equal [1, 0], [whole, part].map { |usage| usage.hours.size }
      assert_equal [whole.minutes, whole.keyspaces, whole.rest], [part.minutes, part.keyspaces, part.rest]
    end

    test "hot keys are those that were read, heavy ones those with the largest values" do
      counted { |cache| work(cache) }
      usage = Usage.read(@path)
      assert_equal ["users/1", 7, 3, 0, 3], usage.hot.first.to_a.values_at(0, 1, 2, 3, 5)
      assert_equal ["books/1", 5000], usage.heavy.first.to_a.values_at(0, 2)
    end

    test "keys are counted in keyspaces that namespaces and patterns name" do
      counted do |cache|
        cache.name_keyspaces(namespace: "shop", patterns: ["products/*/price"])
        cache.set("shop:products/7/price", "9")
        cache.set("shop:products/7/name", "Moby-Dick")
      end
      usage = Usage.read(@path)
      assert_equal ["products", "products/*/price"], usage.keyspaces.map(&:name).sort
      assert_equal ["shop"], usage.namespaces
      assert_equal ["products/*/price"], usage.patterns
      assert_equal "products/*/price", usage.keyspace_of("shop:products/8/price")
      assert_equal "shop", Usage.keyspace_of("shop:products/8/price")
    end

    test "names of keyspaces that cannot be are refused" do
      counted do |cache|
        [[""], ["a" * 64], (1..33).map(&:to_s)].each do |patterns|
          assert_raises(InvalidArgument) { cache.name_keyspaces(patterns: patterns) }
        end
      end
      Cache.open(@path) { |cache| assert_raises(InvalidArgument) { cache.name_keyspaces(namespace: "shop") } }
    end

    test "patterns of keyspaces are an Array of Strings" do
      counted do |cache|
        [nil, "products/*", { "a" => "b" }, 5].each do |patterns|
          error = assert_raises(TypeError) { cache.name_keyspaces(patterns: patterns) }
          assert_equal "patterns must be an Array, got #{patterns.class}", error.message
        end
        error = assert_raises(TypeError) { cache.name_keyspaces(patterns: ["a", :b]) }
        assert_equal "a pattern must be a String, got Symbol", error.message
      end
    end

    test "statistics is true or false" do
      error = assert_raises(ArgumentError) { Cache.open(@path, statistics: "yes") }
      assert_match(/statistics is "yes"; it takes true or false/, error.message)
    end

    test "the last seconds are a number of them, however many, before a time" do
      counted { |cache| cache.set("users/1", "Ada") }
      usage = Usage.read(@path)
      assert_equal [1] * 4, [60, 60.5, 1e300, Float::INFINITY].map { |seconds| usage.last(seconds).whole.stores }
      [nil, "60", 1i].each do |seconds|
        error = assert_raises(TypeError) { usage.last(seconds) }
        assert_equal "seconds must be a number of seconds, got #{seconds.class}", error.message
      end
      assert_raises(InvalidArgument) { usage.last(Float::NAN) }
      assert_match(/now must be a Time, got Integer/, assert_raises(TypeError) { usage.last(60, now: 3) }.message)
    end

    test "a file that is not one of statistics is named by reads and by calls that would add to it" do
      File.write("#{@path}.stats", "a file of another program")
      counted { |cache| assert_match(/u\.larder\.stats/, cache.set("users/1", "Ada") && cache.keep_statistics.message) }
      error = assert_raises(OpenError) { Usage.read(@path) }
      assert_match(/u\.larder\.stats/, error.message)
      assert_equal "a file of another program", File.read("#{@path}.stats")
    end

    test "counts are added when they are due, and not before" do
      counted do |cache|
        assert_nil cache.keep_statistics(if_due: true)
        cache.get("users/1")
        cache.keep_statistics(if_due: true)
        cache.get("users/1")
        cache.keep_statistics(if_due: true)
        assert_equal 1, Usage.read(@path).keyspaces.first.counts.misses
        cache.keep_statistics
        assert_equal 2, Usage.read(@path).keyspaces.first.counts.misses
      end
    end

    test "a call that is to add the counts now names the file that another process holds" do
      counted do |cache|
        cache.set("users/1", "Ada")
        assert_nil cache.keep_statistics
        File.open("#{@path}.stats") do |held|
          held.flock(File::LOCK_EX)
          assert_nil cache.keep_statistics(if_due: true)
          assert_match(/u\.larder\.stats.*or its counts added/, cache.keep_statistics.message)
        end
        assert_nil cache.keep_statistics
      end
    end

    test "the sum of counts is that of each" do
      numbers = (1..Usage::Counts.members.size).to_a
      one = Usage::Counts.none + Usage::Counts.new(*numbers)
      assert_equal numbers.map { |number| number * 2 }, (one + one).to_a
      none = Usage::Counts.none
      assert_equal [nil, nil, nil, nil, 0.0], [none.hit_ratio, none.mean_compute, none.mean_bytes,
                                               none.mean_evicted_age, none.saved]
    end

    test "a part is taken from a sum, and never leaves less than nothing" do
      size = Usage::Counts.members.size
      all = Usage::Counts.new(*([5] * size))
      part = Usage::Counts.new(7, *([2] * (size - 1)))
      assert_equal [0, *([3] * (size - 1))], (all - part).to_a
    end

    test "the rest of a bucket, and what hits have saved by keyspace" do
      counts = lambda do |hits, computes, compute_us|
        Usage::Counts.none.tap { |each| each.hits, each.computes, each.compute_us = hits, computes, compute_us }
      end
      parts = { "slow" => counts[3, 2, 4_000_000], "quick" => counts[1000, 100, 100_000] }
      bucket = Usage::Bucket.new(Time.now, counts[1010, 102, 4_100_000], parts)
      assert_equal counts[7, 0, 0], bucket.rest
      assert_in_delta 7.0, bucket.saved
    end

    private

    def counted(&block)
      Cache.open(@path, size: 1 << 20, statistics: true, &block)
    end

    def work(cache)
      cache.get("users/1")
      cache.set("users/1", "Ada")
      3.times { cache.get("users/1") }
      cache.set("books/1", "x" * 5000)
    end
  end
end
