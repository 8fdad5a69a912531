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
        registry = Larder::Sessions::ProcessRegistry.new(Larder::Cache.open(ARGV[0], size: 8 << 20), report: method(:p),
                                                         clock: -> { 0 })
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
        assert_nil(registry.look { flunk "nobody died" })
        dead.close
        @now += 60
        counted = 0
        registry.look { counted += 1 }.join
        assert_equal 1, counted
        assert_nil(looked { flunk "it was counted" })
        live.close
        assert_nil(looked { flunk "it left in order" })
        registry.unregister
        assert_equal "", cache.get("processes")
      end

      test "counts are corrected once a day, and where a process says that it doubts them" do
        assert_nil(looked { flunk "nobody has counted" })
        registry.register
        assert_nil(looked { flunk "the file is new" })
        cache.touch("counted", ttl: 0.001) # as after a day
        Thread.pass while cache.exist?("counted")
        assert_equal [1, 0], counted
        assert_in_delta 86_400, cache.ttl("counted"), 60
        registry.doubt
        assert_equal [1, 0], counted
      end

      test "a doubt that comes while the counts are corrected stays, as one does that was not finished" do
        registry.register
        registry.doubt
        looked { registry.doubt }.join
        assert_raises(RuntimeError) { registry.recount { raise "interrupted" } }
        pid = fork { registry.recount { Process.kill(:KILL, Process.pid) } }
        Process.wait(pid)
        looked { nil }.join
        assert_nil(looked { flunk "it was counted" })
      end

      test "one corrects the counts at a time, and what was killed at it stops nobody" do
        registry.register
        reader, writer = IO.pipe
        first = fork { registry.recount { writer.write("x") && sleep } }
        reader.read(1)
        registry.doubt
        assert_nil(looked { flunk "another does it" })
        waiting = Thread.new { registry.recount { :counted } }
        Thread.pass until waiting.status == "sleep"
        Process.kill(:KILL, first)
        Process.wait(first)
        assert waiting.join(60)
      end

      private

      def registry
        @now ||= 0
        @registry ||= ProcessRegistry.new(cache, report: ->(error) { raise error }, clock: -> { @now })
      end

      # How often they are counted, in each of two minutes.
      def counted
        Array.new(2) do
          times = 0
          looked { times += 1 }&.join
          times
        end
      end

      # After the minute in which it does not look again.
      def looked(&)
        registry
        @now += 60
        registry.look(&)
      end

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
