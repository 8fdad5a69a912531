# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
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
          @seconds = 0
          @now = 1_900_000_000
          open_file("first.larder")
        end

        teardown do
          Process.kill("CONT", @server.pid) if @server&.pid
          @server&.stop
          FileUtils.rm_rf(@directory_of_server) if @directory_of_server
        end

        test "requests go on, one waits, and one report is made" do
          outage do
            assert @repository.begin("0" * 32, { "user_id" => 1 })
            3.times do |i|
              found = @repository.find(i.to_s * 32)
              assert @repository.commit(found, found.values.merge("count" => i))
              assert @repository.renew(@repository.find(found.key), (i + 1).to_s * 32, { "user_id" => 1 })
            end
            assert_raises(UnavailableError) { @repository.find(C) }
            assert_equal 1, @breaker.made
          end
          assert_equal 1, @reports.size
        end

        test "what was ended meanwhile is ended in the store by the next requests, and does not come back" do
          @repository.begin(A, { "user_id" => 1 })
          outage { @repository.end(A) }
          later
          assert_nil @repository.find(B)
          open_file("second.larder")
          assert_nil @repository.find(A)
          refute @backend.instance_variable_get(:@unwritten).any?
        end

        test "another process tells it, should the one that ended it be killed" do
          @repository.begin(A, { "user_id" => 1 })
          outage do
            child = fork do
              open_again
              @repository.end(A)
              Process.kill("KILL", Process.pid)
            end
            assert_predicate Process.wait2(child).last, :signaled?
          end
          later
          @repository.find(B)
          open_file("second.larder")
          assert_nil @repository.find(A)
        end

        test "while the process lives that ended it, it does not matter that the file is emptied" do
          @repository.begin(A, { "user_id" => 1 })
          outage { @repository.end(A) }
          @backend.cache.clear
          later
          @repository.find(B)
          assert_nil @repository.find(A)
          open_file("second.larder")
          assert_nil @repository.find(A)
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
              assert_includes unwritten_keys, "d/s/#{key}"
            end
            later
            @repository.find(C)
            assert_empty unwritten_keys
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

        # @return [Array<String>]
        def unwritten_keys
          cache = @backend.cache
          cache.each_key(prefix: "d/").reject { |key| cache.get(key).to_s.empty? }
        end

        # So much that the store is asked again.
        def later
          @seconds += 3
        end

        def open_file(name)
          @file = open_cache(name, size: 1 << 20)
          open_again
        end

        def open_again
          clock = -> { @seconds + Process.clock_gettime(Process::CLOCK_MONOTONIC) }
          breaker = ::Larder::Remote::CircuitBreaker.new(failures: 1, late: 0, clock: clock) { true }
          counting(breaker)
          calls = Calls.new("Redis", report: @reports.method(:<<), breaker: breaker, clock: clock)
          @backend = Backed.new(File.new(@file), store, calls: calls, retry_every: 0)
          @repository = Repository.new(backend: @backend, format: Format::Json, clock: -> { @now },
                                       lifetimes: Lifetimes.new(idle: 3600))
        end

        # Calls that reach the client during an outage, of which each waits.
        def counting(breaker)
          breaker.singleton_class.prepend(Module.new do
            attr_accessor :made

            def call(**)
              super do
                self.made = made.to_i + 1
                yield
              end
            end
          end)
          @breaker = breaker
        end

        def store
          options = { url: @server.endpoint["url"], reconnect_attempts: 0, connect_timeout: 0.2, read_timeout: 0.2 }
          StoreBuilder.build(:backed_by, [:redis_cache_store, options])
        end
      end
    end
  end
end
