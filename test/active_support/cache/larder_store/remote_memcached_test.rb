# frozen_string_literal: true

# Two levels over three memcached servers, of which one is killed, or stopped, and comes back.

require "support/remote_case"
require "dalli"

module LarderStore
  # Larder::Remote::Adapters::Memcached.
  class RemoteMemcachedTest < RemoteCase
    # On a port: a key's server depends on its name.
    class Node < Larder::Lab::Servers::Memcached
      class << self
        def path = superclass.path
        def binary = superclass.binary
      end

      def initialize(*)
        super
        @port ||= free_port
      end

      def url
        endpoint.fetch("url")
      end
    end

    setup do
      @logger, Dalli.logger = Dalli.logger, Logger.new(nil)
      @nodes = Array.new(3) { start(Node) }
      @one, @two = machine("one"), machine("two")
      @names = Array.new(30) { |number| "key#{number}" }
      @one.write_multi(@names.to_h { |name| [name, "old"] })
      @two.read_multi(*@names)
    end

    teardown { Dalli.logger = @logger if @logger }

    test "failover is off, and refused where several servers are given with it" do
      assert_same false,
@one.instance_variable_get(:@remote).store.instance_variable_get(:@mem_cache_options)[:failover]
      error = assert_raises(ArgumentError) { machine("three", remote: [:mem_cache_store, *urls, { failover: true }]) }
      assert_match(/give it failover: false/, error.message)
      store, alone = [urls, urls.first].map { |given| ActiveSupport::Cache::MemCacheStore.new(*given, protocol: :meta) }
      assert_raises(ArgumentError) { machine("three", remote: store) }
      assert machine("three", remote: alone)
    end

    test "while a server is dead its copies are answered, and its deletes are applied when it is back" do
      name = names_of(@nodes[1]).first
      TestServers.kill(@nodes[1])
      errors = reported do
        assert_equal "old", @two.read(name)
        @one.delete(name)
        assert_nil @one.read(name)
      end
      assert_equal [Larder::RemoteError], errors.map(&:class)
      @nodes[1].start
      far.write(name, "old, of a copy")
      assert(eventually { caught_up?(@one) })
      assert_not far.exist?(name)
    end

    test "while a server is dead, keys of the others are read and written on all machines" do
      dead, alive = names_of(@nodes[1]), @names - names_of(@nodes[1])
      TestServers.kill(@nodes[1])
      @one.delete(dead.first)
      @one.write(dead.last, "new")
      @one.write(alive.first, "new")
      far.write(alive.last, "new")
      assert_equal "new", machine("three").read(alive.first)
      travel(6, with_usec: true) do
        assert_equal "new", @one.read(alive.last)
        assert_equal alive.sort, @one.read_multi(*@names).keys.sort
        assert_nil @one.read(dead.last)
      end
      @one.clear
      assert_nil @one.read(alive.first)
    end

    test "a server that was stopped has its values when it goes on, and not those that were deleted" do
      one = machine("one", remote: far_of(protocol: timed_out_protocol))
      name = names_of(@nodes[1]).first
      halt(@nodes[1])
      one.delete_multi([name, names_of(@nodes[0]).first])
      assert_nil one.read(name)
      resume(@nodes[1])
      assert_equal "old", far.read(name)
      assert(eventually { caught_up?(one) })
      assert_not far.exist?(name)
      assert_equal "old", machine("three").read(names_of(@nodes[2]).first)
    end

    test "a single server is asked again soon after it is back" do
      server = start("memcached")
      one = machine("alone", remote: [:mem_cache_store, server.endpoint.fetch("url")])
      one.write("k", 1) # connects
      TestServers.kill(server)
      one.delete("k")
      server.start
      assert(eventually(within: 20) { caught_up?(one) }, "before Dalli's 30 seconds")
    end

    test "delete_matched, which memcached has not, raises also while changes wait, and none is listed" do
      TestServers.kill(@nodes[1])
      @one.delete(names_of(@nodes[1]).first)
      ["key*", /key/].each { |pattern| assert_raises(NotImplementedError) { @one.delete_matched(pattern) } }
      @nodes[1].start
      assert(eventually { caught_up?(@one) })
      assert_equal "old", @one.read(names_of(@nodes[0]).first)
      assert far.exist?(names_of(@nodes[2]).first)
    end

    test "a pattern that was listed for a Redis before a deploy empties the servers" do
      redis = start("redis")
      before = machine("one", remote: [:redis_cache_store, { url: redis.endpoint.fetch("url") }])
      before.write("k", 1)
      TestServers.kill(redis)
      before.delete_matched("key*")
      assert_raises(ArgumentError) { before.delete_matched(/key/) }
      after = machine("one", remote: far_of(namespace: "new"))
      assert(eventually { caught_up?(after) })
      assert_empty far.read_multi(*@names)
      after.write("k", 2)
      assert_equal 2, machine("three", remote: far_of(namespace: "new")).read("k")
    end

    test "clear empties all servers, also one that was dead" do
      TestServers.kill(@nodes[1])
      @one.clear
      @nodes[1].start
      far.write_multi(@names.to_h { |name| [name, "old, of a copy"] })
      assert(eventually { caught_up?(@one) })
      assert_empty machine("three").read_multi(*@names)
    end

    test "of several keys those of servers that answer are found" do
      TestServers.kill(@nodes[1])
      errors = reported { assert_equal @names - names_of(@nodes[1]), machine("three").read_multi(*@names).keys }
      assert_empty errors
      errors = reported { assert_empty machine("three").read_multi(*names_of(@nodes[1])) }
      assert_equal [Larder::RemoteError], errors.map(&:class)
    end

    slow_test "under load no delete is lost while servers are killed and stopped" do
      one, two = %w[one two].map do |name|
        machine(name, remote: far_of(protocol: timed_out_protocol), error_handler: nil)
      end
      under_load(one, two, @names) do
        Kernel.sleep(0.5)
        halt(@nodes[1])
        Kernel.sleep(LOAD)
        resume(@nodes[1])
        Kernel.sleep(LOAD)
        TestServers.kill(@nodes[2])
        Kernel.sleep(LOAD)
        @nodes[2].start
        Kernel.sleep(LOAD)
      end
    end

    private

    def remote
      far_of(protocol: :meta)
    end

    def far_of(**options)
      [:mem_cache_store, *urls, { coder: Larder::Coder.new, socket_timeout: 0.2, down_retry_delay: 0.3, **options }]
    end

    def urls
      @nodes.map(&:url)
    end

    # Before Ruby 3.2, Dalli waits without end for an answer of the other protocol.
    def timed_out_protocol
      IO.method_defined?(:timeout=) ? :meta : :binary
    end

    # Without a machine before it.
    def far
      @far ||= ActiveSupport::Cache.lookup_store(remote)
    end

    def names_of(node)
      ring = Dalli::Client.new(urls, protocol: :meta).send(:ring)
      @names.select { |name| ring.send(:server_for_hash_key, ring.send(:hash_for, name)).name == node.url }
    end

    def machine(name, remote: self.remote, **options)
      capture_io { @made = super(name, remote: remote, **options) } # Dalli says that a protocol is old
      @made
    end
  end
end
