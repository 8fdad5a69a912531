# frozen_string_literal: true

# Larder::Cache under a garbage collector that runs at every allocation, and one that moves every object it may.

require "test_helper"

class LarderCacheGarbageCollectionTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  # Every native method, with values on all sides of the limits where their handling changes.
  EXERCISE = <<~RUBY
    def exercise(cache, round)
      [0, 10, 100, 1500, 5000, 300_000].each do |size|
        key = "key/\#{size}/\#{round}".dup
        value = (round.to_s * 8 + "v") * (size / 9) + "e"
        raise "set" unless cache.set(key, value, ttl: 60)
        raise "get" unless cache.get(key) == value
        raise "cas" unless cache.cas(key, value, value + "f") && cache.get(key) == value + "f"
        raise "touch" unless cache.touch(key) && cache.exist?(key) && cache.ttl(key) == Float::INFINITY
        raise "delete" unless cache.delete(key) && cache.get(key).nil?
      end
      pairs = 70.times.to_h { |i| ["multi/\#{round}/\#{i}".dup, ("x" * (i * 40)).dup] }
      pairs["large\#{round}"] = "l" * 270_000 if round.even?
      raise "set_multi" unless cache.set_multi(pairs, ttl: 60) == []
      raise "get_multi" unless cache.get_multi(pairs.keys) == pairs
      raise "each_key" unless cache.each_key(prefix: "multi/\#{round}/").to_a.uniq.size == 70
      raise "delete_multi" unless cache.delete_multi(pairs.keys) == pairs.size
      raise "increment" unless cache.increment("n\#{round}", 5) == 5
      raise "stats" unless cache.stats[:processes] >= 1 && cache.verify[:problems] == 0
      cache.prune
      begin
        cache.get("k" * 5000)
        raise "no error"
      rescue Larder::InvalidArgument
      end
    end
  RUBY

  test "everything works while every allocation collects" do
    output = run_ruby(<<~RUBY, path_of, **BARE_RUBY)
      #{EXERCISE}
      Larder::Cache.open(ARGV[0], size: #{SIZE}) do |cache|
        exercise(cache, 0)
        GC.stress = true
        exercise(cache, 1)
        GC.stress = false
      end
      print "sound"
    RUBY
    assert_equal "sound", output
  end

  test "opening and failing to open work while every allocation collects" do
    File.write(path_of("foreign"), "x" * 5000, perm: 0o600)
    output = run_ruby(<<~RUBY, path_of, path_of("foreign"), **BARE_RUBY)
      GC.stress = true
      3.times do
        Larder::Cache.open(ARGV[0], size: #{SIZE}) { |cache| cache.set("k", "v") }
        begin
          Larder::Cache.open(ARGV[1])
        rescue Larder::OpenError => error
          raise error unless error.message.include?(ARGV[1])
        end
      end
      GC.stress = false
      print "sound"
    RUBY
    assert_equal "sound", output
  end

  test "everything works while objects move" do
    skip "this Ruby does not move objects" unless GC.respond_to?(:compact)
    output = run_ruby(<<~RUBY, path_of)
      #{EXERCISE}
      GC.auto_compact = true
      cache = Larder::Cache.open(ARGV[0], size: 8 * #{SIZE}) # so that nothing has to be evicted meanwhile
      movers = [Thread.new { 30.times { GC.compact; sleep(0.001) } }]
      workers = 3.times.map { |i| Thread.new { 3.times { |round| exercise(cache, i * 10 + round + 100) } } }
      (workers + movers).each { |thread| thread.report_on_exception = true; thread.join }
      print "sound"
    RUBY
    assert_equal "sound", output
  end

  test "no reference is left behind when all objects moved" do
    skip "this Ruby does not verify moves" unless GC.respond_to?(:verify_compaction_references)
    output = run_ruby(<<~RUBY, path_of)
      #{EXERCISE}
      cache = Larder::Cache.open(ARGV[0], size: #{SIZE})
      exercise(cache, 1)
      growth = RUBY_VERSION >= "3.2" ? { expand_heap: true } : { double_heap: true }
      GC.verify_compaction_references(toward: :empty, **growth)
      exercise(cache, 2)
      cache.close
      begin
        cache.get("k")
      rescue Larder::ClosedError
        print "sound"
      end
    RUBY
    assert_equal "sound", output
  end
end
