# frozen_string_literal: true

require "test_helper"
require "minitest/mock"

module Larder
  module Lab
    class HostingTest < ActiveSupport::TestCase
      test "a server that is killed voids what was measured on it, whatever its contender says" do
        needs_server("redis")
        [-> { :done }, -> { raise Invalid, "a wrong value" }, -> { raise Unavailable, "no answer" }].each do |rest|
          with_directory do |dir|
            error = assert_raises(Invalid) do
              Hosting.for(Contenders.fetch("redis"), File.join(dir, "1")) do |_, server|
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
    end
  end
end
