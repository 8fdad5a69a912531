# frozen_string_literal: true

require "test_helper"
require "larder/lab/proxy"
require "socket"

module Larder
  module Lab
    # Real processes and real sockets. Of time only lower bounds are asserted: those hold on any machine.
    class ProxyTest < ActiveSupport::TestCase
      MEGABYTES = Random.new(1).bytes(3_000_000).freeze

      test "megabytes pass in both directions at once, whole and in order" do
        { tcp: nil, "unix sockets": "entry" }.each do |kind, entry|
          with_echo(unix: entry) do |target, dir|
            with_proxy(target, dir, rtt: 0.002, socket: entry && File.join(dir, entry)) do |proxy|
              assert_equal MEGABYTES, exchange(dial(proxy), MEGABYTES), kind
            end
          end
        end
      end

      test "many connections keep their bytes apart, and get no more together than the bandwidth lets pass" do
        with_echo do |target, dir|
          with_proxy(target, dir, rtt: 0.01, bandwidth: 8_000_000.0) do |proxy|
            senders = Array.new(40) { dial(proxy) }
            started = now
            answers = senders.map.with_index { |each, i| Thread.new { exchange(each, "#{i} " * 2000) } }
            answers.each_with_index { |thread, i| assert_equal "#{i} " * 2000, thread.value }
            # All together are 220,000 bytes. A million a second pass.
            assert_operator now - started, :>=, 0.22
          end
        end
      end

      test "a side that breaks its connection off ends it for the other, and others go on" do
        with_server(->(client) { client.readpartial(10) && abort_connection(client) }) do |target, dir|
          with_proxy(target, dir, rtt: 0.001) do |proxy|
            client = dial(proxy)
            client.write("abc")
            assert_nil gone(client)
          end
        end
        with_echo do |target, dir|
          with_proxy(target, dir, rtt: 0.001) do |proxy|
            other = dial(proxy)
            client = dial(proxy)
            client.write(MEGABYTES.byteslice(0, 100_000))
            abort_connection(client)
            assert_equal "ping", ping(other)
            # Of each connection it has two sockets.
            eventually { sockets(proxy.pid) == 3 } if File.directory?("/proc/self/fd")
          end
        end
      end

      test "it does not start in front of a server that is not there" do
        with_directory do |dir|
          proxy = Proxy.new("#{dir}/none", Proxy::Wire.new(rtt: 0), log: File.join(dir, "log"))
          error = assert_raises(Unavailable) { proxy.start }
          assert_match(/the proxy does not start: No such file or directory - connect\(2\) for #{dir}/, error.message)
          assert_empty processes(dir)
        end
      end

      test "when its server is gone, connections end, new ones too, and others find it again" do
        with_echo(unix: "server") do |target, dir|
          with_proxy(target, dir, rtt: 0.001) do |proxy|
            assert_equal "ping", ping(dial(proxy))
            File.rename(target, "#{target}-away")
            assert_nil gone(dial(proxy))
            File.rename("#{target}-away", target)
            assert_equal "ping", ping(dial(proxy))
          end
        end
      end

      test "it ends with its stdin: of a lab that was killed nothing stays" do
        with_echo(unix: "server") do |target, dir|
          lab = fork { Proxy.new(target, Proxy::Wire.new(rtt: 0), log: File.join(dir, "log")).start && sleep }
          assert eventually { processes(dir).any? }
          Process.kill(:KILL, lab)
          Process.wait(lab)
          eventually { processes(dir).empty? }
        end
      end

      private

      def with_proxy(target, dir, socket: nil, **wire)
        proxy = Proxy.new(target, Proxy::Wire.new(**wire), log: File.join(dir, "proxy.log"), socket: socket).start
        yield proxy
      ensure
        proxy&.stop
      end

      # Sends back what it gets, until that ends.
      def with_echo(unix: nil, &block)
        with_server(->(client) { IO.copy_stream(client, client) && client.close }, unix: unix, &block)
      end

      # A server in threads of this process: what it does with one client is the lambda's.
      def with_server(serve, unix: nil)
        with_directory do |dir|
          path = File.join(dir, "server")
          server = unix ? UNIXServer.new(path) : TCPServer.new("127.0.0.1", 0)
          acceptor = Thread.new { loop { Thread.start(server.accept) { |client| quietly { serve.call(client) } } } }
          acceptor.report_on_exception = false
          yield unix ? path : "127.0.0.1:#{server.addr[1]}", dir
        ensure
          acceptor&.kill
          server&.close
        end
      end

      def quietly
        yield
      rescue SystemCallError, IOError
        nil
      end

      def dial(proxy)
        at = proxy.address
        at.is_a?(String) ? UNIXSocket.new(at) : TCPSocket.new(Proxy::HOST, at)
      end

      def ping(client)
        client.write("ping")
        client.read(4)
      end

      # Writes while it reads, as neither side has room for all.
      def exchange(client, bytes)
        writer = Thread.new do
          client.write(bytes)
          client.close_write
        end
        client.read.tap { writer.join }
      ensure
        client.close
      end

      def abort_connection(client)
        client.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
        client.close
      end

      # What a client reads of a connection that has ended, one way or the other.
      def gone(client)
        client.gets
      rescue Errno::ECONNRESET
        nil
      end

      def sockets(pid)
        Dir.children("/proc/#{pid}/fd").count { |each| File.readlink("/proc/#{pid}/fd/#{each}").start_with?("socket:") }
      end
    end
  end
end
