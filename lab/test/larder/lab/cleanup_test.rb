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

      test "after SIGKILL of its whole process group everything is gone" do
        interrupt("KILL", group: true) { |status| assert_equal 9, status.termsig }
      end

      private

      # Starts a long run, waits until its server and its worker are there, sends the signal, and looks.
      def interrupt(signal, group: false)
        with_directory do |dir|
          lab = start(dir)
          eventually { processes(dir).size >= 5 } # the lab, two wardens, server, worker
          Process.kill(signal, group ? -lab : lab)
          yield Process.wait2(lab).last
          eventually(15) { processes(dir).empty? && Dir.empty?(dir) }
          assert_empty processes(dir)
        end
      end

      def start(dir)
        server = ["redis", "memcached"].find { |name| Servers.fetch(name).path }
        skip "neither redis-server nor memcached is installed" unless server

        Process.spawn(RbConfig.ruby, EXECUTABLE, "stores", "--only", server, "--n", "5000", "--rounds", "100",
                      "--dir", dir, out: File::NULL, err: File::NULL, pgroup: true)
      end
    end
  end
end
