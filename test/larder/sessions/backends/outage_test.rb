# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "support/moved_clock"
require "support/servers"
require "larder/sessions"
require "larder/sessions/backends/backed"
require "larder/sessions/backends/store_builder"

module Larder
  module Sessions
    module Backends
      # A real Redis behind a file that stops answering for a while, as a process that is stopped does.
      class OutageTest < ActiveSupport::TestCase
        include TemporaryCaches

        A = "a" * 32
        B = "b" * 32
        C = "c" * 32

        setup do
          type = Larder::Lab::Servers.fetch("redis")
          skip "redis is not installed" unless type.path
          @directory_of_server = Dir.mktmpdir("larder-outage")
          @server = type.new(@directory_of_server).start
          @reports = []
          @now = 1_900_000_000
          open_file("first.larder")
        end

        teardown do
          Process.kill("CONT", @server.pid) if @server&.pid
          @server&.stop
          FileUtils.rm_rf(@directory_of_server) if @directory_of_server
        end

        test "requests go on, few calls wait, and one report is made" do
          outage do
            @calls = 0
            assert @repository.begin("0" * 32, { "user_id" => 1 })
            3.times do |i|
              found = @repository.find(i.to_s * 32)
              assert @repository.commit(found, found.values.merge("count" => i))
              assert @repository.renew(@repository.find(found.key), (i + 1).to_s * 32, { "user_id" => 1 })
            end
            assert_raises(UnavailableError) { @repository.find(C) }
            assert_includes 1..3, @calls, "then the breaker is open"
          end
          assert_equal 1, @reports.size
        end

        test "what was ended meanwhile is ended in the store by the next requests, and does not come back" do
          @repository.begin(A, { "user_id" => 1 })
          outage { @repository.end(A) }
          later
          assert_nil @repository.find(B)
          @first = @backend.instance_variable_get(:@outbox)
          open_file("second.larder")
          assert_nil @repository.find(A)
          assert_predicate @first, :empty?
        end

        test "another process tells it, should the one that ended it be killed" do
          @repository.begin(A, { "user_id" => 1 })
          outage { in_killed_child { @repository.end(A) } }
          later
          @repository.find(B)
          open_file("second.larder")
          assert_nil @repository.find(A)
        end

        test "it does not matter that the file is emptied, and that the process that ended it is killed" do
          @repository.begin(A, { "user_id" => 1 })
          outage { in_killed_child { @repository.end(A) } }
          @file.clear
          later
          @repository.find(B)
          assert_nil @repository.find(A)
          open_file("second.larder")
          assert_nil @repository.find(A)
        end

        test "a session whose change the store has not got comes back after a loss of the file" do
          @repository.begin(A, { "user_id" => 1 })
          outage { @repository.commit(@repository.find(A), { "user_id" => 1, "more" => 2 }) }
          @file.clear
          later
          @repository.find(B)
          assert @repository.find(A), "as it was before, or as a late write has left it"
        end

        test "a logout is told later as well" do
          @repository.begin(A, { "user_id" => 1 })
          @repository.begin(B, { "user_id" => 2 })
          @now += 1
          outage do
            assert_equal 1, Statistics.new(@repository).logout(1)
            @repository.end(A)
          end
          later
          @repository.find(C)
          open_file("second.larder")
          assert_nil @repository.find(A)
          assert @repository.find(B)
          assert_operator store.read(Store.name_of("logout/User/1"), raw: true).to_i, :>=, @now
        end

        test "an end or a change that another thread's exception interrupts is written later" do
          [A, B].each { |key| @repository.begin(key, { "user_id" => 1 }) }
          changed = @repository.find(B)
          calls = { A => -> { @repository.end(A) }, B => -> { @repository.commit(changed, { "more" => 2 }) } }
          calls.each do |key, call|
            outage do
              assert_raises(Timeout::Error) { Timeout.timeout(0.1) { call.call } }
              assert_includes [["s/#{key}"], ["c/s/#{key}"]], listed
            end
            later
            @repository.find(C)
            assert_empty listed
          end
          open_file("second.larder")
          assert_equal [nil, { "more" => 2 }], [A, B].map { |key| @repository.find(key)&.values }
        end

        test "what was begun and changed meanwhile is copied later" do
          @repository.begin(A, { "user_id" => 1 })
          outage do
            @repository.commit(@repository.find(A), { "user_id" => 1, "more" => 2 })
            @repository.begin(B, { "user_id" => 2 })
          end
          later
          @repository.find(C)
          open_file("second.larder")
          assert_equal [{ "user_id" => 1, "more" => 2 }, { "user_id" => 2 }], [A, B].map { @repository.find(_1).values }
        end

        test "what the store is told of fails as often as it is down, and stays listed" do
          @repository.begin(A, { "user_id" => 1 })
          outage do
            @repository.end(A)
            3.times do
              later
              assert_raises(UnavailableError) { @repository.find(B) }
            end
          end
          assert_equal 1, @reports.size
          later
          @repository.find(B)
          open_file("second.larder")
          assert_nil @repository.find(A)
        end

        private

        # The server hangs while the block runs.
        def outage
          Process.kill("STOP", @server.pid)
          yield
        ensure
          Process.kill("CONT", @server.pid)
        end

        # @return [Array<String>] changes that the store has not got
        def listed
          cache = Larder::Cache.open("#{@file.path}.journal", create: false)
          entries = cache.each_key(prefix: "d/").select { |name| cache.get(name).start_with?("f") }
          entries.map { |name| name.byteslice(10..) }
        end

        # Runs the block in another process with the file, which is killed then.
        def in_killed_child
          child = fork do
            open_again
            yield
            Process.kill("KILL", Process.pid)
          end
          assert_predicate Process.wait2(child).last, :signaled?
        end

        # So much that the store is asked again.
        def later
          MovedClock.forward(3)
        end

        def open_file(name)
          @file = open_cache(name, size: 1 << 20)
          open_again
        end

        def open_again
          @backend = Backed.new(@file, StoreBuilder.adapter(:backed_by, typed), report: @reports.method(:<<),
                                                                                retry_every: 0)
          count_calls(@backend.instance_variable_get(:@copies).instance_variable_get(:@breaker))
          @repository = Repository.new(backend: @backend, format: Format::Json, clock: -> { @now },
                                       lifetimes: Lifetimes.new(idle: 3600))
        end

        # Calls that reach the client, and wait for its timeout during an outage.
        def count_calls(breaker)
          @calls = 0
          count = -> { @calls += 1 }
          breaker.define_singleton_method(:call) do |**options, &block|
            super(**options) do
              count.call
              block.call
            end
          end
        end

        def store
          ActiveSupport::Cache.lookup_store(*typed)
        end

        def typed
          [:redis_cache_store, { url: @server.endpoint["url"], reconnect_attempts: 0, connect_timeout: 0.2,
                                 read_timeout: 0.2 }]
        end
      end
    end
  end
end
