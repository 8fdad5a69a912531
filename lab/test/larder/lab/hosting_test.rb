# frozen_string_literal: true

require "test_helper"
require "minitest/mock"

module Larder
  module Lab
    class HostingTest < ActiveSupport::TestCase
      test "a private server runs inside the block, and nothing of it is left after it, nor after an error in it" do
        type = redis
        [-> { :done }, -> { raise Invalid, "wrong" }].each do |work|
          with_directory do |dir|
            pid = nil
            answer = Hosting.for(type, File.join(dir, "1")) do |endpoint, server|
              pid = server.pid
              assert_equal [pid, 1], [endpoint["pid"], Process.kill(0, pid)]
              assert_includes server.recorded["arguments"], "--maxmemory"
              work.call
            end
            assert_equal :done, answer
          rescue Invalid => error
            assert_equal "wrong", error.message
          ensure
            assert_raises(Errno::ESRCH) { Process.kill(0, pid) }
            assert_empty Dir.children(dir)
          end
        end
      end

      test "a server that is killed voids what was measured on it, whatever its contender says" do
        type = redis
        [-> { :done }, -> { raise Invalid, "a wrong value" }, -> { raise Unavailable, "no answer" }].each do |rest|
          with_directory do |dir|
            error = assert_raises(Invalid) do
              Hosting.for(type, File.join(dir, "1")) do |_, server|
                Process.kill(:KILL, server.pid)
                eventually { server.failure }
                rest.call
              end
            end
            assert_equal "the server ended: redis-server was killed by signal 9", error.message
            assert_empty Dir.children(dir)
          end
        end
      end

      test "a server that cannot start leaves no directory" do
        with_directory do |dir|
          type = Class.new(Servers::Redis) { define_singleton_method(:path) { "/bin/false" } }
          Servers.stub(:fetch, type) do
            assert_raises(Unavailable) { Hosting.new("redis", File.join(dir, "1-server")) }
          end
          assert_empty Dir.children(dir)
        end
      end

      private

      def redis
        needs_server("redis")
        Contenders.fetch("redis")
      end
    end
  end
end
