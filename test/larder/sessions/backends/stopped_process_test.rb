# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "dalli"
require "redis"
require "larder/sessions"
require "larder/sessions/backends/store"
require "support/servers"

module Larder
  module Sessions
    module Backends
      # Two machines with `cache:` on one store. One is a process that is stopped between two commands of a change, each
      # in turn, as by a machine that is suspended. The other one changes or ends the session before it is continued.
      module StoppedProcessTests
        include TemporaryCaches
        include Processes

        # More commands than any change sends.
        MOST = 40
        # Commands of a change that does not wait: three, and two for counters, which a client repeats whose server is
        # slow. One that waits for a lock asks for it fifty times.
        FEW = 10
        private_constant :MOST, :FEW

        # Calls a block before each command that this process sends to a store.
        module Commands
          class << self
            attr_accessor :before
          end

          # A middleware of redis-client.
          def call(*)
            Commands.before&.call
            super
          end

          # Replaces the method of Dalli.
          def perform(*)
            Commands.before&.call
            super
          end
        end
        Dalli::Client.prepend(Commands)

        def setup
          super
          @there = machine("there")
        end

        def test_the_changes_of_both_are_kept
          at_each_command do
            assert change(@there, "there"), "while the other process is stopped"
            answer = continue
            values = @there.find(@key).values
            assert_equal 1, values["there"]
            assert_equal 1, values["here"] if answer == "true"
          end
        end

        def test_a_change_does_not_wait_for_a_process_that_is_stopped
          at_each_command do
            sent = 0
            found = @there.find(@key)
            Commands.before = -> { sent += 1 }
            assert @there.commit(found, found.values.merge("there" => 1))
            Commands.before = nil
            assert_operator sent, :<=, FEW
            continue
          end
        end

        def test_a_session_that_ends_in_that_time_stays_ended_also_after_hours
          at_each_command do
            assert @there.end(@key)
            plain_store.delete("#{Store.name_of(Repository::PREFIX + @key)}/gone")
            continue
            assert_nil @there.find(@key)
          end
        end

        def test_a_session_that_ends_in_that_time_stays_ended_if_the_process_is_killed_then
          [1, 2].each do |commands|
            at_each_command(killed_after: commands) do
              assert @there.end(@key)
              continue
              assert_nil @there.find(@key)
            end
          end
        end

        def teardown
          continue if @pid
          super
        end

        private

        # Yields while a process is stopped before that command of its change.
        def at_each_command(killed_after: nil)
          turns = (1..MOST).take_while do |turn|
            @key = SecureRandom.bytes(32)
            @there.begin(@key, { "user_id" => 7 })
            stop_before(turn, killed_after) && (yield || true)
          end
          assert_includes 2...MOST, turns.size
        end

        # @return [Boolean] false: it has sent fewer commands
        def stop_before(turn, killed_after)
          read, write = IO.pipe
          @pid = fork do
            here = machine("here")
            found = here.find(@key)
            sent = 0
            Commands.before = lambda do
              sent += 1
              Process.kill(:STOP, Process.pid) if sent == turn
              Process.kill(:KILL, Process.pid) if killed_after && sent == turn + killed_after
            end
            write.print(here.commit(found, found.values.merge("here" => 1)))
            exit!
          end
          write.close
          @answer = read
          stopped = Process.wait2(@pid, Process::WUNTRACED).last.stopped?
          @pid = nil unless stopped
          stopped
        end

        # @return [String] what the change answered
        def continue
          Process.kill(:CONT, @pid)
          Process.wait(@pid)
          @pid = nil
          @answer.read
        end

        def change(machine, name)
          found = machine.find(@key)
          machine.commit(found, found.values.merge(name => 1))
        end

        def machine(name)
          Configuration.new(cache: typed, file: path_of("#{name}.larder")).repository
        end

        def plain_store
          ActiveSupport::Cache.lookup_store(*typed)
        end

        def url(server)
          TestServers.endpoint(server)&.fetch("url") || skip("#{server} is not installed")
        end
      end

      class StoppedProcessRedisTest < ActiveSupport::TestCase
        include StoppedProcessTests

        def typed
          [:redis_cache_store, { url: url("redis"), middlewares: [StoppedProcessTests::Commands] }]
        end
      end

      class StoppedProcessMemcachedTest < ActiveSupport::TestCase
        include StoppedProcessTests

        def typed
          [:mem_cache_store, url("memcached"), { protocol: :meta }]
        end
      end
    end
  end
end
