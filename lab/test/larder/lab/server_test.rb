# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class ServerTest < ActiveSupport::TestCase
      Servers.names.each do |name|
        test "#{name} starts, answers, says who it is, and stops" do
          type = needs_server(name)
          with_directory do |dir|
            server = type.new(dir).start
            assert_operator Footprint.memory(server.pid), :>, 100_000 if File.exist?("/proc/self/status")
            assert_predicate server.endpoint["url"], :present?
            assert_connects server.endpoint
            assert_match(/\d+\.\d+/, type.version)
            assert_equal 1, Process.kill(0, server.pid)
            server.stop
            assert_raises(Errno::ESRCH) { Process.kill(0, server.pid) }
          end
        end

        slow_test "#{name} listens on a port where the path is too long for a socket" do
          type = needs_server(name)
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

      ["redis", "postgresql"].each do |name|
        test "#{name} that is killed says so, and leaves no process and no shared memory" do
          type = needs_server(name)
          with_directory do |dir|
            server = type.new(dir).start
            assert_nil server.failure
            Process.kill(:KILL, server.pid)
            assert_equal "the server ended: #{type.binary} was killed by signal 9", server.failure(10).message
            eventually { processes(dir).empty? }
            assert_empty shared_memory_of(server.pid)
          ensure
            server&.stop
          end
        end
      end

      ["postgresql", "mariadb"].each do |name|
        slow_test "#{name} starts again where it was killed, with the same files" do
          type = needs_server(name)
          with_directory do |dir|
            server = type.new(dir).start
            made = File.stat(File.join(dir, "data")).ino
            Process.kill(:KILL, server.pid)
            eventually { server.failure }
            server.stop
            assert_connects server.start.endpoint
            assert_equal made, File.stat(File.join(dir, "data")).ino
          ensure
            server&.stop
          end
        end
      end

      { "postgresql" => "global/pg_control", "mariadb" => "ibdata1" }.each do |name, sample|
        test "servers of #{name} begin with copies of files that are made once, after a first attempt that failed" do
          type = needs_server(name)
          with_directory do |dir|
            files = ServerFiles.new(dir)
            assert_raises(Invalid) { files.copy("mine", "#{dir}/x") { |made| Dir.mkdir(made) && raise(Invalid, "no") } }
            files.copy("mine", "#{dir}/y") { |made| Dir.mkdir(made) && File.write("#{made}/whole", "") }
            assert_equal %w[whole], Dir.children("#{dir}/y")

            servers = %w[0 1].map do |copy|
              Dir.mkdir("#{dir}/#{copy}", 0o700)
              type.new("#{dir}/#{copy}", files: files)
            end
            servers.map { |server| Thread.new { server.start } }.each(&:join)
            servers.each { |server| assert_connects server.endpoint }
            places = servers.each_index.map { |copy| File.stat("#{dir}/#{copy}/data/#{sample}") }
            assert_equal 2, places.map(&:ino).uniq.size
            assert_equal [1, 1], [places.map(&:uid).uniq.size, Dir["#{dir}/*/#{sample}"].size]
            assert_equal %w[40700], servers.each_index.map { |copy| mode("#{dir}/#{copy}/data") }.uniq
          ensure
            servers&.each(&:stop)
          end
        end
      end

      ["memcached", "mariadb"].each do |name|
        test "only root names the user of #{name}: another user may have no name" do
          skip "needs root" unless Process.euid.zero?
          type = Servers.fetch(name)
          named = ->(arguments) { arguments.include?("-u") || arguments.include?("--user=root") }
          assert named.call(type.new("/nowhere").arguments)
          pid = fork do
            Process::UID.change_privilege(54_321)
            exit!(named.call(type.new("/nowhere").arguments) ? 1 : 0)
          rescue ArgumentError
            exit!(2)
          end
          assert_equal 0, Process.wait2(pid).last.exitstatus
        end
      end

      test "as root, PostgreSQL runs as another user, who may enter the lab's directories, and no other ones" do
        skip "needs root" unless Process.euid.zero?
        type = needs_server("postgresql")
        with_directory do |dir|
          own = File.join(dir, "7", "own")
          FileUtils.mkdir_p(own)
          File.chmod(0o700, File.join(dir, "7"))
          server = type.new(own).start
          assert_not_equal 0, File.stat(own).uid
          assert_equal File.stat("/proc/#{server.pid}").uid, File.stat(own).uid
          assert_equal(%w[40710 40710], [dir, File.dirname(own)].map { |above| mode(above) })
          own = File.join(dir, "closed", "own")
          FileUtils.mkdir_p(own)
          File.chmod(0o700, File.dirname(own))
          error = assert_raises(Unavailable) { type.new(own).start }
          assert_match(%r{may not enter #{dir}/closed: choose another place with --dir}, error.message)
        ensure
          server&.stop
        end
      end

      test "a full disk is a reason that names it" do
        skip "needs root" unless Process.euid.zero?

        with_small_disk do |disk|
          ["postgresql", "mariadb"].map { |name| Servers.fetch(name) }.select(&:path).each do |type|
            own = File.join(disk, type.key)
            Dir.mkdir(own, 0o700)
            error = assert_raises(Unavailable) { type.new(own).start }
            assert_match(/\A\S+ fails: .*(no space left|out of disk space)/i, error.message)
            assert_empty processes(disk)
          end
        end
      end

      private

      def mode(path) = File.stat(path).mode.to_s(8)

      def shared_memory_of(pid)
        File.readlines("/proc/sysvipc/shm").map(&:split).select { |fields| fields.include?(pid.to_s) }
      rescue SystemCallError
        []
      end

      # A file system of 12 MB.
      def with_small_disk
        with_directory do |dir|
          File.chmod(0o755, dir)
          skip "cannot mount" unless system("mount", "-t", "tmpfs", "-o", "size=12m,mode=755", "none", dir,
                                            err: File::NULL)
          yield dir
        ensure
          system("umount", dir, err: File::NULL)
        end
      end

      # What stands between a server and its client finds the server by these.
      def assert_connects(endpoint)
        path, host, port = endpoint.values_at("socket", "host", "port")
        (path ? UNIXSocket.new(path) : TCPSocket.new(host, port)).close
      end
    end
  end
end
