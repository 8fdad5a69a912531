# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "larder/lab/bench/plan"
require "larder/lab/bench/seat"
require "larder/lab/suites"
require_relative "../../../fixtures/liar"

module Larder
  module Lab
    module Bench
      # Real processes.
      class PreloaderTest < ActiveSupport::TestCase
        test "the processes of a session have one parent, which has loaded no store; the next session has another" do
          sessions = Array.new(2) do
            session { |seats| [seats["parentage", 0], seats["parentage", 1]].map { |seat| seat.opened["options"] } }
          end
          assert_equal [[], [], [], []], sessions.flatten.map { |options| options["found"] }
          parents = sessions.map { |copies| copies.map { |options| options["parent"] }.uniq }
          assert_equal [1, 1, 2], [*parents.map(&:size), parents.flatten.uniq.size]
          assert_not_includes parents.flatten, Process.pid
        end

        test "Solid Cache's processes are forked from one application without a connection, each with a database" do
          session do |seats|
            seats["solid_cache", 0].opened
            options = [0, 1].map { |copy| seats["booted", copy].opened["options"] }
            found = { "booted" => true, "connected" => false, "cache" => "ActiveSupport::Cache::NullStore" }
            assert_equal [found], options.map { |option| option["found"] }.uniq
            assert_equal ["SolidCache::Store"], options.map { |option| option["cache"] }.uniq
            assert_equal 2, options.map { |option| option.dig("database", "database") }.uniq.size
          rescue Unavailable => error
            skip error.message
          end
        end

        test "rows whose common code cannot be loaded say why" do
          with_directory do |dir|
            gemfile = File.join(dir, "Gemfile")
            File.write(gemfile, "raise %(no gems today)")
            session do |seats|
              error = assert_raises(Invalid) { Gemfiles.stub(:path, gemfile) { seats["memory", 0].opened } }
              assert_match(/\Aits process ended early: .*no gems today/, error.message)
            end
          end
        end

        test "a suite loads beforehand without a store, and keeps no connection; its blocks compile nothing" do
          reader, writer = IO.pipe
          pid = fork do
            events = []
            ActiveSupport::Notifications.subscribe(/\Acache_|\A!compile/) { |name, *| events << name }
            Suites.fetch("applications").preload.call
            writer.puts(events.uniq.inspect)
            events.clear
            writer.puts(Suites::Shop::Record.connection_pool.connections.size)
            scene = Scene.new(Contenders::MemoryStore.new(dir: Dir.pwd).open)
            blocks = Suites.fetch("applications").blocks.reject(&:cold).each { |block| block.setup.call(scene) }
            writer.puts(blocks.first(6).map { |block| block.call.call(scene, 0, 0) }.uniq.inspect)
            writer.puts(Suites::Shop::Record.connection_pool.connections.size, events.grep(/compile/).inspect)
            exit!(0)
          end
          writer.close
          assert_equal <<~SAID, reader.read
            ["!compile_template.action_view"]
            0
            [true]
            0
            []
          SAID
          Process.wait(pid)
        end

        private

        def plan(row)
          Plan.new(suite: Suites.fetch("published-a"), rows: [row], size: 4 << 20, requires: [fixture("liar")])
        end

        # Yields how seats are made, and the directory.
        def session
          with_directory do |dir|
            preloaders = Preloader::Group.new("published-a", dir)
            files = ServerFiles.new(dir)
            seats = []
            yield(lambda do |row, copy|
              Seat.new(row, copy, plan: plan(row), dir: File.join(dir, "#{row}-#{copy}"), preloaders: preloaders,
                                  files: files).tap { |seat| seats << seat }.tap(&:start)
            end, dir)
          ensure
            [*seats, preloaders].compact.each { |each| each.respond_to?(:leave) ? each.leave : each.stop }
            assert_empty processes(dir)
          end
        end
      end
    end
  end
end
