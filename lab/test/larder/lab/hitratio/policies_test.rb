# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Hitratio
      class PoliciesTest < ActiveSupport::TestCase
        SIMULATED = Policies.names - ["larder"]

        test "LRU and FIFO hit where one works it out by hand" do
          assert_equal "...h.h.h", hits("lru", "abcbdbab", 3)
          assert_equal "...h..", hits("lru", "abcadb", 3)
          assert_equal "...h.h", hits("fifo", "abcadb", 3)
        end

        test "Belady keeps what comes back first, and lets pass what does not" do
          assert_equal "..hh.h", hits("belady", "ababcb", 2)
          assert_equal "...h.hh", hits("belady", "abcadab", 2), "b is kept for d, which never comes back"
          assert_equal ".....hh", hits("belady", "abcdeab", 2)
        end

        test "S3-FIFO promotes what was read twice and remembers what was not" do
          scan = ("a".."z").to_a + (1..40).map(&:to_s)
          twice = ["hot", "hot", "hot", *scan.first(25), "hot"]
          assert_equal "h", hits("s3fifo", twice, 20)[-1], "read twice, it outlives a scan of the whole cache"
          once = ["hot", "hot", *scan.first(25), "hot"]
          assert_equal ".", hits("s3fifo", once, 20)[-1]
          back = ["hot", *scan.first(25), "hot", *scan.last(30), "hot"]
          assert_equal "h", hits("s3fifo", back, 20)[-1], "its ghost brought it to the main queue"
        end

        test "LIRS keeps what came back soon through a loop that is longer than the cache" do
          loop_of_twelve = (1..12).map(&:to_s) * 20
          assert_operator hits("lirs", loop_of_twelve, 10).count("h"), :>=, 8 * 19
          assert_equal 0, hits("lru", loop_of_twelve, 10).count("h")
          # In a cache of four, of which two bytes are the queue: c passes through it, comes back soon, and stays.
          assert_equal "..h....hh", hits("lirs", %w[a b a c d e c c c], 4)
        end

        test "ARC keeps what was asked for twice through a scan, and learns from its ghosts" do
          scan = (1..30).map(&:to_s)
          assert_equal "h", hits("arc", ["hot", "hot", *scan, "hot"], 10)[-1]
          assert_equal ".", hits("lru", ["hot", "hot", *scan, "hot"], 10)[-1]
          # In a cache of four: c is a ghost of t1 when it comes back, and is held with a, which was asked for twice.
          assert_equal "..h.....hh", hits("arc", %w[a b a c d e f c c a], 4)
        end

        test "Belady misses least, and everything is found in a cache that holds all" do
          requests = skewed(4000)
          least = hits("belady", requests, 40).count(".")
          SIMULATED.each do |name|
            assert_operator hits(name, requests, 40).count("."), :>=, least, name
            next if name == "s3fifo" # takes nothing of the small queue's size or more

            assert_equal requests.uniq.size, hits(name, requests, 4000).count("."), name
          end
        end

        test "no policy holds more bytes than there are" do
          requests = skewed(3000)
          sizes = requests.map { |object| 1 + (object % 50) }
          trace = Trace.new("sized", requests, sizes)
          SIMULATED.each do |name|
            policy = Policies.fetch(name).new(500, trace)
            held = (policy.instance_variables - %i[@ghosts @once @often @stack])
                   .map { |variable| policy.instance_variable_get(variable) }.grep(Chain)
            most = trace.requests.each_with_index.map do |object, at|
              policy.request(object, sizes[at], trace.following[at])
              held.sum(&:bytes)
            end.max
            assert_includes 250..500, most, name
          end
        end

        test "the engine counts its requests, and its net bytes are those of objects that can be read as a whole" do
          trace = Trace.new("long", skewed(3000)).with_size(50_000)
          engine = Policies.fetch("larder").new(2 << 20, trace)
          missed = trace.requests.count { |object| !engine.request(object, 50_000, nil) }
          cache = engine.instance_variable_get(:@cache)
          assert_equal [3000 - missed, missed], cache.stats.values_at(:hits, :misses)
          bytes = engine.net_bytes
          assert_equal (0...300).count { |object| cache.get("object/#{object}") } * 50_000, bytes
          assert_includes 1...(2 << 20), bytes
        ensure
          engine&.close
        end

        private

        # "h" for each hit, "." for each miss, of objects of one byte each.
        def hits(name, requests, capacity)
          trace = Trace.new("test", requests.respond_to?(:chars) ? requests.chars : requests).with_size(1)
          policy = Policies.fetch(name).new(capacity, trace)
          trace.requests.each_with_index.map do |object, at|
            policy.request(object, 1, trace.following[at]) ? "h" : "."
          end.join
        end

        def skewed(count)
          random = Random.new(42)
          Array.new(count) { (300 * (random.rand**3)).to_i }
        end
      end
    end
  end
end
