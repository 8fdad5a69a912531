# frozen_string_literal: true

# Three machines in network namespaces of their own, and a Redis in a fourth. A machine is cut off by taking its link
# down: no answer comes, and no connection is closed.

require "support/remote_case"
require "redis"

module LarderStore
  # Two levels and Larder::Remote::Backplane.
  class RemotePartitionTest < RemoteCase
    LOCAL = 4
    URL = "redis://10.99.0.1:6379"

    # What each machine runs: it answers lines of Marshal by what the store does.
    PROGRAM = <<~RUBY
      require "active_support"
      require "active_support/cache/larder_store"
      cache = ActiveSupport::Cache.lookup_store(:larder_store, *Marshal.load(ARGV.first.unpack1("m")))
      $stdout.sync = true
      while (line = $stdin.gets)
        method, *arguments = Marshal.load(line.unpack1("m"))
        target = method == :trusted? ? cache.cache : cache
        puts [Marshal.dump(target.public_send(method, *arguments))].pack("m0")
      end
    RUBY

    # A process in a namespace.
    class Machine
      def initialize(namespace, file)
        far = { url: URL, read_timeout: 0.3, connect_timeout: 0.3, reconnect_attempts: 0 }
        given = [file, { remote: [:redis_cache_store, far],
                         backplane: URL, local_expires_in: LOCAL, size: 8 << 20, error_handler: nil }]
        @process = IO.popen(["ip", "netns", "exec", namespace, RbConfig.ruby, "-rbundler/setup", "-Ilib", "-e", PROGRAM,
                             [Marshal.dump(given)].pack("m0")], "r+")
      end

      def ask(*call)
        @process.puts([Marshal.dump(call)].pack("m0"))
        Marshal.load(@process.gets.unpack1("m"))
      end

      def stop
        @process.close
      end
    end

    teardown do
      @nodes&.each(&:stop)
      if @redis
        Process.kill(:KILL, @redis)
        Process.wait(@redis)
      end
      @namespaces&.each { |name| system("ip", "netns", "del", name) }
    end

    slow_test "a machine that is cut off: bounded staleness, and its deletes are applied when the link is up again" do
      prepare
      one, two, three = @nodes
      written(one, { "k" => "old", "j" => "old" })
      @nodes.each { |node| assert_equal %w[old old], [node.ask(:read, "k"), node.ask(:read, "j")] }

      link("down", 1)
      one.ask(:delete, "k")
      assert_nil one.ask(:read, "k")
      assert_equal "old", two.ask(:read, "k"), "until the delete is applied"
      two.ask(:write, "j", "new")
      changed = now
      assert(eventually { three.ask(:read, "j") == "new" })
      Kernel.sleep(0.1) while one.ask(:read, "j") && now < changed + LOCAL
      Array.new(20) { Kernel.sleep(0.1) && one.ask(:read, "j") }.each { |seen| assert_nil seen }

      link("up", 1)
      assert(eventually { one.ask(:read, "j") == "new" })
      assert(eventually { @nodes.all? { |node| node.ask(:read, "k").nil? } })
      one.ask(:write, "k", "newer")
      assert(eventually { two.ask(:read, "k") == "newer" && three.ask(:read, "k") == "newer" })
    end

    slow_test "the server is cut off from all: copies until local_expires_in, and then what each machine computes" do
      prepare
      one, two = @nodes
      written(one, { "k" => "old" })
      assert_equal "old", two.ask(:read, "k")
      (1..3).each { |number| link("down", number) }
      cut = now
      assert_equal "old", two.ask(:read, "k")
      two.ask(:delete, "k")
      Kernel.sleep(0.1) until now > cut + LOCAL
      assert_nil one.ask(:read, "k")
      one.ask(:write, "own", 1)
      assert_equal 1, one.ask(:read, "own")
      (1..3).each { |number| link("up", number) }
      assert(eventually { two.ask(:write, "sign", 1) && one.ask(:read, "sign") == 1 })
      assert_nil two.ask(:read, "k")
      assert_nil one.ask(:read, "k")
    end

    private

    # Returns when the other machines have been told.
    def written(node, entries)
      node.ask(:write_multi, entries)
      Kernel.sleep(0.2)
    end

    def prepare
      skip "redis-server is not installed" unless Larder::Lab::Servers.fetch("redis").path
      skip "network namespaces need root and iproute2" unless Process.euid.zero? && namespaces?

      lay_wires
      @redis = Process.spawn("ip", "netns", "exec", @namespaces.first, "redis-server", "--bind", "10.99.0.1", "--port",
                             "6379", "--protected-mode", "no", "--save", "", chdir: directory, out: File::NULL)
      assert(eventually { inside(0, "redis-cli", "-h", "10.99.0.1", "ping") })
      @nodes = Array.new(3) { |number| Machine.new(@namespaces[number + 1], path_of("#{number}.larder")) }
      assert(eventually { @nodes.all? { |node| node.ask(:read, "none").nil? && node.ask(:trusted?) } })
    end

    def namespaces?
      system("ip", "netns", "add", name_of(0), err: File::NULL).tap { |made| @namespaces = [name_of(0)] if made }
    end

    def name_of(number)
      "larder-#{Process.pid}-#{number}"
    end

    # A bridge in the first namespace, with the server; a cable to each of the others.
    def lay_wires
      ip(0, "link", "add", "bridge", "type", "bridge")
      ip(0, "addr", "add", "10.99.0.1/24", "dev", "bridge")
      %w[lo bridge].each { |device| ip(0, "link", "set", device, "up") }
      (1..3).each do |number|
        assert system("ip", "netns", "add", name_of(number))
        @namespaces << name_of(number)
        ip(number, "link", "add", "cable", "type", "veth", "peer", "name", "cable#{number}", "netns", name_of(0))
        ip(number, "addr", "add", "10.99.0.#{number + 1}/24", "dev", "cable")
        %w[lo cable].each { |device| ip(number, "link", "set", device, "up") }
        ip(0, "link", "set", "cable#{number}", "master", "bridge", "up")
      end
    end

    def link(state, number)
      ip(0, "link", "set", "cable#{number}", state)
    end

    def ip(number, *arguments)
      assert system("ip", "-n", @namespaces[number], *arguments), arguments.join(" ")
    end

    def inside(number, *command)
      system("ip", "netns", "exec", @namespaces[number], *command, out: File::NULL, err: File::NULL)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
