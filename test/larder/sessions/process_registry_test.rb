# frozen_string_literal: true

require "test_helper"
require "open3"
require "larder/sessions"

module Larder
  module Sessions
    # Real processes, in PID namespaces of their own as containers have them.
    class ProcessRegistryTest < ActiveSupport::TestCase
      include TemporaryCaches

      SCRIPT = <<~RUBY
        require "larder/sessions"
        registry = Larder::Sessions::ProcessRegistry.new(Larder::Cache.open(ARGV[0], size: 8 << 20), report: method(:p))
        registry.register
        puts Process.pid
        $stdout.flush
        $stdin.read
        exit! if ARGV[1] == "killed" # which is process 1, and cannot kill itself
      RUBY

      test "a process of another container is not taken for dead, and one that died there is noticed" do
        skip "needs root" unless Process.euid.zero?
        skip "no PID namespaces here" unless system("unshare", "--pid", "--fork", "true", err: File::NULL)

        live, = container { |pid| assert_equal "1", pid }
        dead, = container("killed")
        now = 0
        registry = ProcessRegistry.new(cache, report: ->(error) { raise error })
        assert_nil(registry.look(now) { flunk "nobody died" })
        dead.close
        counted = 0
        registry.look(now + 60) { counted += 1 }.join
        assert_equal 1, counted
        assert_nil(registry.look(now + 120) { flunk "it was counted" })
        live.close
        assert_nil(registry.look(now + 180) { flunk "it left in order" })
        assert_equal "", cache.get("processes")
      end

      private

      # @return [Array] a process in a PID namespace of its own; closed, it ends
      def container(*how)
        io = IO.popen(["unshare", "--pid", "--fork", "--kill-child", RbConfig.ruby, "-Ilib", "-rbundler/setup", "-e",
                       SCRIPT, path_of, *how], "r+")
        pid = io.gets.to_s.chomp
        yield pid if block_given?
        [io, pid]
      end
    end
  end
end
