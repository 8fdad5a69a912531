# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class ServerTest < ActiveSupport::TestCase
      Servers.names.each do |name|
        type = Servers.fetch(name)

        test "#{name} starts, answers, says who it is, and stops" do
          skip "#{type.binary} is not installed" unless type.path

          with_directory do |dir|
            server = type.new(dir).start
            assert_operator server.memory_bytes, :>, 100_000 if File.exist?("/proc/self/status")
            assert_predicate server.endpoint["url"], :present?
            assert_connects server.endpoint
            assert_match(/\d+\.\d+/, type.version)
            assert_equal 1, Process.kill(0, server.pid)
            server.stop
            assert_raises(Errno::ESRCH) { Process.kill(0, server.pid) }
          end
        end

        test "#{name} listens on a port where the path is too long for a socket" do
          skip "#{type.binary} is not installed" unless type.path

          with_directory do |dir|
            deep = File.join(dir, "d" * 110)
            Dir.mkdir(deep)
            server = type.new(deep).start
            assert_equal "127.0.0.1", server.endpoint["host"]
            assert_nil server.endpoint["socket"]
            assert_connects server.endpoint
          ensure
            server&.stop
          end
        end
      end

      test "a server that cannot start is unavailable, with what it printed" do
        with_directory do |dir|
          program = File.join(dir, "redis-server")
          File.write(program, "#!/bin/sh\necho no memory today >&2\nexit 3\n")
          File.chmod(0o755, program)
          type = Class.new(Servers::Redis) { define_singleton_method(:path) { program } }
          type.instance_variable_set(:@binary, "redis-server")
          error = assert_raises(Unavailable) { type.new(dir).start }
          assert_match(/redis-server does not start: no memory today/, error.message)
        end
      end

      private

      # What stands between a server and its client finds the server by these.
      def assert_connects(endpoint)
        path, host, port = endpoint.values_at("socket", "host", "port")
        (path ? UNIXSocket.new(path) : TCPSocket.new(host, port)).close
      end
    end
  end
end
