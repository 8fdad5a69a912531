# frozen_string_literal: true

# Two levels over a Redis Cluster of three nodes, of which one is killed, or stopped, and comes back.

require "support/remote_case"
require "support/redis_cluster"

module LarderStore
  # Larder::Remote::RedisCluster, and a backplane at its nodes.
  class RemoteClusterTest < RemoteCase
    class << self
      # @return [RedisCluster] of all tests
      def cluster
        @cluster ||= begin
          place = Dir.mktmpdir("larder-test-cluster")
          RedisCluster.new(place).start.tap do |made|
            Minitest.after_run do
              made.stop
              FileUtils.rm_rf(place)
            end
          end
        end
      end
    end

    setup do
      skip "redis-server is not installed" unless RedisCluster::Node.path
      skip "the gem redis-clustering is not in the bundle" unless Gem.loaded_specs.key?("redis-clustering")

      require "redis-clustering"
      @cluster = self.class.cluster
      @cluster.nodes.each { |node| node.call("FLUSHALL") }
      @one, @two = machine("one"), machine("two")
    end

    teardown { @cluster&.heal }

    test "keys of many slots and hash tags are read, written and deleted by one call" do
      names = Array.new(20) { |number| ["{tag#{number}}", "plain/#{number}"] }.flatten
      @one.write_multi(names.to_h { |name| [name, name.upcase] })
      assert_equal(names.to_h { |name| [name, name.upcase] }, @two.read_multi(*names))
      assert_equal 40, @two.delete_multi(names + ["none"])
      assert_empty machine("three").read_multi(*names)
    end

    test "clear and delete_matched reach all nodes" do
      names = Array.new(30) { |number| "{#{number}}k" }
      @one.write_multi(names.to_h { |name| [name, 1] })
      @one.delete_matched("{1*")
      assert_equal names.grep_v(/\A\{1/), machine("three").read_multi(*names).keys
      @one.write_multi(names.to_h { |name| [name, 1] }, namespace: "n")
      assert_same true, @one.clear(namespace: "n")
      assert_empty machine("four").read_multi(*names, namespace: "n")
      assert_equal names.grep_v(/\A\{1/), machine("five").read_multi(*names).keys
      assert_same true, @one.clear
      assert_equal([0, 0, 0], @cluster.nodes.map { |node| node.call("DBSIZE") })
    end

    test "counters, tags and single flight" do
      assert_equal [1, 4], [@one.increment("n", expires_in: 60), @two.increment("n", 3)]
      @one.write("k", 1, tags: %w[red blue])
      assert_equal 1, @two.fetch("k", single_flight: true) { flunk }
      runs = Queue.new
      values = [@one, @two].map { |store| Thread.new { store.fetch("f", single_flight: true) { made(runs) } } }
      assert_equal %w[made made], values.map(&:value)
      assert_equal 1, runs.size
      @two.delete_tagged("blue")
      assert_nil machine("three").read("k")
    end

    test "while a node is dead its copies are answered, and its deletes are applied when it is back" do
      names = names_of(@cluster.nodes.last, 3)
      @one.write_multi(names.to_h { |name| [name, "old"] })
      @two.read(names.last)
      @cluster.kill(@cluster.nodes.last)
      errors = reported do
        assert_equal({ names.last => "old" }, @two.read_multi(*names))
        assert_same true, @one.delete(names.last)
        assert_nil @one.read(names.last)
      end
      assert_equal [Larder::RemoteError], errors.map(&:class), "one for the cause, in a process"
      alive = names_of(@cluster.nodes.first, 1).first
      @one.write(alive, "new")
      assert_equal "new", machine("three").read(alive), "of another node"
      @cluster.heal
      far = ActiveSupport::Cache.lookup_store(remote)
      far.write(names.last, "old, of a copy")
      assert(eventually { caught_up?(@one) })
      assert_not far.exist?(names.last)
    end

    test "a clear waits for a node that is dead and that the client does not know" do
      names = @cluster.nodes.flat_map { |node| names_of(node, 1) }
      @cluster.kill(@cluster.nodes.last)
      assert(eventually { @cluster.nodes.first.call("CLUSTER", "NODES").include?("master,fail ") })
      late = machine("one") # a client of now finds two nodes
      late.clear
      late.delete_matched("k*")
      assert_not caught_up?(late)
      @cluster.heal
      ActiveSupport::Cache.lookup_store(remote).write_multi(names.to_h { |name| [name, "old, of a copy"] })
      later = machine("one") # a client learns of a node after up to 10 s
      assert(eventually { caught_up?(later) })
      assert_empty machine("three").read_multi(*names)
    end

    test "the backplane goes on at the next node when the one that is listened to is killed" do
      one, two = %w[three four].map { |name| machine(name, backplane: @cluster.urls, local_expires_in: 600) }
      one.write("k", 1)
      one.read("none")
      assert(eventually { two.read("k") && [one, two].all? { |store| store.cache.trusted? } })
      one.write("k", 2)
      assert(eventually { two.read("k") == 2 })
      @cluster.kill(@cluster.nodes.first)
      name = names_of(@cluster.nodes.last, 1).first
      one.write(name, 3)
      assert(eventually { two.read(name) == 3 && two.cache.trusted? })
      one.write(name, 4)
      assert(eventually { two.read(name) == 4 })
    end

    slow_test "under load no delete is lost while nodes are killed and stopped" do
      one, two = machine("one", error_handler: nil), machine("two", error_handler: nil)
      names = Array.new(30, &:to_s)
      under_load(one, two, names) do
        Kernel.sleep(0.5)
        halt(@cluster.nodes[1])
        Kernel.sleep(LOAD)
        @cluster.heal
        Kernel.sleep(LOAD)
        @cluster.kill(@cluster.nodes[2])
        Kernel.sleep(LOAD)
        @cluster.heal
        Kernel.sleep(LOAD)
      end
    end

    private

    def machine(name, **options)
      super(name, remote_id: "cluster", **options)
    end

    def remote
      urls = @cluster.urls
      [:redis_cache_store, { redis: -> { Redis::Cluster.new(nodes: urls, timeout: 0.3, reconnect_attempts: 0) },
                             pool: { size: 1 }, coder: Larder::Coder.new }]
    end

    def names_of(node, count)
      (0..).lazy.map { |number| "key#{number}" }.select { |key| @cluster.node_of(key) == node }.first(count)
    end

    def made(runs)
      runs << 1
      Kernel.sleep(0.1)
      "made"
    end
  end
end
