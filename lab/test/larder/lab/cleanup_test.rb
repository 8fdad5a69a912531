# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    # Whatever ends the lab, no server, no worker and no file of it stays.
    class CleanupTest < ActiveSupport::TestCase
      setup { skip "needs /proc" unless File.directory?("/proc/self") }

      { "INT" => 130, "TERM" => 143, "HUP" => 129 }.each do |signal, code|
        test "after SIG#{signal} everything is gone and the exit code says so" do
          interrupt(signal) { |status| assert_equal code, status.exitstatus }
        end
      end

      test "after SIGKILL everything is gone" do
        interrupt("KILL") { |status| assert_equal 9, status.termsig }
      end

      { "solid_cache-postgresql" => "postgres", "solid_cache-mariadb" => "mariadbd" }.each do |contender, binary|
        test "after SIGKILL everything of #{binary} is gone, too" do
          server = Servers.fetch(Contenders.fetch(contender).server)
          skip "#{binary} is not installed" unless server.path

          interrupt("KILL", contender: contender) { |status| assert_equal 9, status.termsig }
        end
      end

      test "after SIGKILL of its whole process group everything is gone" do
        interrupt("KILL", group: true) { |status| assert_equal 9, status.termsig }
      end

      test "a server that starts while the lab is killed is gone, too" do
        reader, writer = IO.pipe
        reader.close # as that of a lab that was killed
        warden = Process.spawn(RbConfig.ruby, "--disable=gems", Guarded::WARDEN, "run", "TERM", "-", "sleep", "61.25",
                               in: File::NULL, out: writer, err: File::NULL)
        Process.wait(warden)
        assert_empty(processes("sleep 61.25").reject { |pid| pid == warden })
      end

      private

      # Starts a long run, waits until all its processes are there, sends the signal, and looks.
      def interrupt(signal, group: false, contender: nil)
        server = contender || ["redis", "memcached"].find { |name| Servers.fetch(name).path }
        with_directory do |dir|
          File.chmod(0o711, dir) # PostgreSQL's user goes through it
          lab = start(dir, server || "file")
          # The lab, the directory's warden and two workers; each worker with a server has that and its warden.
          eventually { processes(dir).size >= (server ? 8 : 4) }
          Process.kill(signal, group ? -lab : lab)
          yield Process.wait2(lab).last
          eventually { processes(dir).empty? && Dir.empty?(dir) }
          assert_empty processes(dir)
        end
      end

      def start(dir, contender)
        Process.spawn(RbConfig.ruby, EXECUTABLE, "stores", "--only", contender, "--sessions", "100", "--passes", "100",
                      "--dir", dir, out: File::NULL, err: File::NULL, pgroup: true)
      end
    end
  end
end
