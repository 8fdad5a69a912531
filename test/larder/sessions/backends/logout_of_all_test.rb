# frozen_string_literal: true

require "test_helper"
require "redis"
require "support/moved_clock"
require "support/trips"
require "support/two_machines"

module Larder
  module Sessions
    module Backends
      class LogoutOfAllTest < ActiveSupport::TestCase
        include TwoMachines

        FILES = [["a FileStore", false], ["a FileStore", true]].freeze

        before_each_store "all users are signed out everywhere, anonymous sessions go on" do
          @here.begin("a", { "user_id" => 1 })
          @there.begin("b", { "user_id" => 2, "n" => 1 })
          @there.begin("c", { "cart" => 1 })
          assert_equal [1, 2, nil], %w[a b c].map { |name| @there.values(name)["user_id"] }
          assert_nil @here.statistics.logout_all
          soon { %w[a b].all? { |name| [@here, @there].none? { |one| one.find(name) } } }
          assert_equal [{ "cart" => 1 }] * 2, [@here, @there].map { |one| one.values("c") }
          refute [@here, @there].product([1, 2]).any? { |one, user| one.statistics.logged_in?(user) }
          assert_empty @there.statistics.for(2)
          assert_equal 0, @there.statistics.logout(1)
        end

        before_each_store "a user who signs in in the second of it stays signed in until the next one" do
          3.times do |turn|
            [@here, @there].each { |one| one.begin("#{turn}#{one.object_id}", { "user_id" => turn }) }
            assert [@here, @there].all? { |one| one.find("#{turn}#{one.object_id}") }, turn
            assert_equal 2, @there.statistics.for(turn).size
            assert_nil [@here, @there].sample.statistics.logout_all
            refute @there.statistics.logged_in?(turn)
            soon { [@here, @there].product([@here, @there]).none? { |one, of| one.find("#{turn}#{of.object_id}") } }
          end
        end

        before_each_store "a request that runs at the time of it does not bring its session back" do
          %w[a b c].each { |name| @here.begin(name, { "user_id" => 1 }) }
          changing, using, renewing = %w[a b c].map { |name| @there.find(name) }
          @here.statistics.logout_all
          @there.change(changing, "cart" => 1)
          @there.ahead = 120
          @there.change(using, {})
          @there.repository.renew(renewing, @there.key("d"), { "user_id" => 1 })
          soon { %w[a b c d].all? { |name| [@here, @there].none? { |one| one.find(name) } } }
          refute @here.statistics.logged_in?(1)
        end

        before_each_store "a user who signs in in a request that runs at the time of it is signed in" do
          %w[a b c].each { |name| @here.begin(name, { "cart" => 1 }) }
          @here.begin("e", { "user_id" => 8 })
          changing, renewing, _, other = %w[a b c e].map { |name| @there.find(name) }
          @here.statistics.logout_all
          @there.change(changing, "user_id" => 1)
          @there.repository.renew(renewing, @there.key("d"), { "user_id" => 1 })
          @there.repository.commit(other, { "user_id" => 1 }) # in place of another, who is signed out
          soon { %w[a d e].all? { |name| [@here, @there].all? { |one| one.values(name)&.fetch("user_id") == 1 } } }
          assert_equal 3, @here.statistics.for(1).size
          refute @here.statistics.logged_in?(8)
        end

        before_each_store "clocks that differ by an hour do no harm" do
          [[3600, 0], [-3600, 0], [0, 3600], [0, -3600]].each_with_index do |(here, there), i|
            @here.ahead, @there.ahead = here, there
            @here.begin("before#{i}", { "user_id" => 1 })
            @there.statistics.logout_all
            @here.begin("after#{i}", { "user_id" => 1 })
            soon { [@here, @there].none? { |one| one.find("before#{i}") } }
            assert [@here, @there].all? { |one| one.find("after#{i}") }
          end
        end

        before_each_store "a user who joins the session of one who was signed out does not bring that back" do
          @here.begin("a", { "user_id" => 1 })
          found = @there.find("a")
          @here.statistics.logout_all
          @there.repository.commit(found, found.values, bound: ["Admin/7"])
          soon { [@here, @there].none? { |one| one.find("a") } }
          refute [1, "Admin/7"].any? { |user| @here.statistics.logged_in?(user) }
        end

        # Threads and processes are in each other's way in a FileStore.
        before_each_store "logouts of all at the same time all hold", PLACES - FILES do
          @here.begin("a", { "user_id" => 1 })
          4.times.map { |i| Thread.new { [@here, @there][i % 2].statistics.logout_all } }.each(&:join)
          soon { [@here, @there].none? { |one| one.find("a") } }
          @here.begin("b", { "user_id" => 1 })
          soon { @there.find("b") }
        end

        before_each_store "after a loss of the store's number the next logout ends the sessions from before",
                          PLACES.reject(&:last) do
          @here.statistics.logout_all
          @here.begin("a", { "user_id" => 1 })
          ActiveSupport::Cache.lookup_store(*@typed).delete(Store.name_of(Logouts::EPOCH))
          assert @there.find("a")
          @there.ahead = 2
          @there.statistics.logout_all
          refute @here.find("a")
        end

        # A deploy that adds backplane: reaches one machine after the other.
        before_each_store "a machine without backplane: logs everybody out on one that has it, within a minute",
                          [["Redis", true], ["memcached", true]] do
          old = machine("old", backplane: nil)
          %w[a b].each { |name| old.begin(name, { "user_id" => 1 }) }
          assert(%w[a b].all? { |name| @here.find(name) })
          old.statistics.logout_all
          assert_nil old.find("a")
          refute @here.statistics.logged_in?(1)
          [@here, @there].each { |one| age_copies(one) }
          assert_equal [nil] * 4, [@here, @there].product(%w[a b]).map { |one, name| one.find(name) }
          old.begin("c", { "user_id" => 1 })
          assert @there.find("c")
          @there.statistics.logout_all
          assert_nil old.find("c")
        end

        test "while the store is dead no user is logged out, which is said, and later all are" do
          [nil, true].each do |copies|
            server = server_in("redis#{copies}")
            options = { cache: [:redis_cache_store, { url: server.endpoint["url"] }],
                        backplane: (server.endpoint["url"] if copies) }
            here, there = %w[a b].map { |name| machine("#{name}#{copies}", **options) }
            here.begin("a", { "user_id" => 1 })
            Process.kill(:STOP, server.pid)
            assert_raises(UnavailableError) { here.statistics.logout_all }
            assert_raises(UnavailableError) { there.statistics.logout_all }
            Process.kill(:CONT, server.pid)
            MovedClock.forward(3)
            soon do
              there.statistics.logout_all.nil?
            rescue UnavailableError
              false
            end
            soon { [here, there].none? { |one| one.find("a") } }
          ensure
            Process.kill(:CONT, server.pid) if server&.pid
            [here, there].compact.each(&:stop)
            server&.stop
          end
        end

        test "a request makes no more trips to the store than without it" do
          start("Redis", false)
          @here.ahead = 30 - Time.now.sec # no minute ends in between
          @here.begin("a", { "user_id" => 1 })
          @here.change(@here.find("a"), "n" => 1) # from now on Redis knows the script
          @there.begin("b", { "cart" => 1 })
          assert_equal [["MGET"]], trips { @here.find("a") }
          assert_equal [["MGET"]], trips { @there.find("b") }
          found = @here.find("a")
          assert_equal [], trips { @here.change(found, {}) }
          assert_equal [["GET"], ["GET"], ["EVALSHA"]], trips { @here.change(found, "cart" => 1) }
          @here.ahead += 61
          found = @here.find("a")
          assert_equal [["GET"], ["GET"], ["EVALSHA"], %w[INCRBY EXPIRE INCRBY EXPIRE]],
                       trips { @here.change(found, {}) }
        end

        test "with copies a request makes none" do
          start("Redis", true)
          @here.begin("a", { "user_id" => 1 })
          [@here, @there].each { |one| one.find("a") }
          # A machine asks Redis while messages reach it too late.
          soon { [@here, @there].all? { |one| trips { one.find("a") }.empty? } }
          @there.statistics.logout_all
          soon { @here.find("a").nil? }
          @here.begin("b", { "user_id" => 1 })
          soon { trips { @there.find("b") }.empty? }
        end

        private

        def trips(&block)
          Trips.count(&block)
          Trips.log.map { |names| names.map { |name| name == "EVAL" ? "EVALSHA" : name } }
        end

        # As if a minute was over.
        def age_copies(machine)
          machine.larder.cache.clear
        end
      end
    end
  end
end
