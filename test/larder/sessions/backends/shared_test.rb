# frozen_string_literal: true

require "test_helper"
require "redis"
require "support/moved_clock"
require "support/reported_errors"
require "support/servers"
require "larder/sessions"
require "larder/sessions/backends/shared"

module Larder
  module Sessions
    module Backends
      # Two machines, each with a file of copies and a listener of its own, before one real Redis.
      class SharedTest < ActiveSupport::TestCase
        include ReportedErrors
        include Processes
        include TemporaryCaches

        A = "a" * 32
        B = "b" * 32
        NAME = Store.name_of(Repository::PREFIX + A)

        # Seconds after which each pause is over that follows a failure.
        PAUSES = 3

        # A machine, and what is asked of its sessions.
        class Machine
          attr_reader :repository, :statistics, :copies

          def initialize(**options)
            @now = Time.now.to_i
            @repository = Configuration.new(size: 1 << 20, **options).repository
            @repository.instance_variable_set(:@clock, -> { @now })
            @statistics = Statistics.new(repository)
            @copies = repository.backend.instance_variable_get(:@larder)
          end

          def find(key = A)
            repository.find(key)
          end

          def values(key = A)
            find(key)&.values
          end

          def change(found, more)
            repository.commit(found, found.values.merge(more))
          end

          # As if the time had come.
          def later(seconds)
            @now += seconds
          end

          def stop
            copies.instance_variable_get(:@backplane).stop
          end
        end

        setup do
          type = Larder::Lab::Servers.fetch("redis")
          skip "Redis is not installed" unless type.path

          @server = type.new(directory).tap(&:start)
          @here = machine("here")
          @there = machine("there")
          @here.repository.begin(A, { "user_id" => 1 })
          assert(eventually { [@here, @there].all? { |one| one.values && one.copies.cache.trusted? } })
        end

        teardown do
          [@here, @there].compact.each(&:stop)
          @server&.stop
        end

        test "who signs in on one machine is signed in on the other, which answers from its copy" do
          assert_equal [{ "user_id" => 1 }] * 2, [@here.values, @there.values]
          assert_equal [true, true], [@here, @there].map { |one| one.statistics.logged_in?(1) }
          assert_equal 1, @there.statistics.for(1).size
          far { |redis| redis.set(NAME, "behind its back") }
          assert_equal({ "user_id" => 1 }, @there.values)
        end

        test "what a request changes on one machine the other finds" do
          @here.change(@here.find, "cart" => 3)
          assert_equal({ "user_id" => 1, "cart" => 3 }, @here.values)
          assert(eventually { @there.values == { "user_id" => 1, "cart" => 3 } })
        end

        test "changes on both machines at the same time are all kept" do
          before = [@here, @there].map(&:find)
          @here.change(before.first, "here" => 1)
          @there.change(before.last, "there" => 2)
          all = { "user_id" => 1, "here" => 1, "there" => 2 }
          assert(eventually { [@here, @there].all? { |one| one.values == all } })
        end

        test "what ends on one machine ends on the other, also for a slow request" do
          slow = @there.find
          assert @here.repository.end(A)
          assert_nil @here.find
          assert(eventually { @there.find.nil? })
          refute @there.change(slow, "more" => 1)
          assert_equal [nil, nil], [@here, @there].map(&:find)
        end

        test "a logout on one machine ends the user's sessions on all" do
          @there.repository.begin(B, { "user_id" => 1 })
          assert(eventually { @here.find(B) })
          assert_equal 2, @here.statistics.logout(1)
          assert(eventually { [@here, @there].product([A, B]).none? { |one, key| one.find(key) } })
          refute @there.statistics.logged_in?(1)
        end

        test "an old copy does not end a session that is used on the other machine" do
          sleep 0.1 # until it was told of the sign-in
          @there.find
          far { |redis| redis.call("ACL", "SETUSER", "default", "-publish") }
          [@here, @there].each { |one| one.later(20 * 86_400) }
          errors = reported { @here.change(@here.find, "cart" => 3) }
          assert_match(/the backplane does not answer/, errors.first.message)
          assert_equal({ "user_id" => 1 }, @there.values)
          @there.later(20 * 86_400)
          assert_equal({ "user_id" => 1, "cart" => 3 }, @there.values)
        end

        test "a copy ends no later than the store's entry" do
          record = @there.find.record
          ends = record.used + @there.repository.lifetimes.left(record, record.used)
          assert_operator far { |redis| redis.pttl(NAME) }.fdiv(1000) + Time.now.to_f, :>=, ends
          @there.later(ends - 1 - @there.repository.now)
          far { |redis| redis.del(NAME) }
          assert_equal({ "user_id" => 1 }, @there.values)
          @there.later(1)
          assert_nil @there.values
        end

        test "while the store is dead copies are found, changes are refused at once, and the outage is reported once" do
          errors = reported do
            TestServers.kill(@server)
            assert_equal({ "user_id" => 1 }, @here.values)
            assert_raises(UnavailableError) { @here.change(@here.find, "cart" => 3) }
            2.times { assert_raises(UnavailableError) { @there.find(B) } }
          end
          assert_empty errors.map(&:class) - [Larder::RemoteError, UnavailableError]
          backplanes, stores = errors.partition { |error| error.message.start_with?("the backplane") }
          assert_equal 1, stores.size, errors.map(&:message).inspect
          assert_operator backplanes.size, :<=, 1, errors.map(&:message).inspect
        end

        test "a request that is the first to find that the store hangs is answered from its copy" do
          2.times { @there.values } # the second has a copy of the number of logouts, too
          Process.kill(:STOP, @server.pid)
          assert(eventually { !@there.copies.cache.trusted? })
          reported do
            Sessions.during({}, @there.statistics) { assert_equal({ "user_id" => 1 }, @there.values) }
            Sessions.during({}, @there.statistics) { assert_raises(UnavailableError) { @there.find(B) } }
          end
        ensure
          TestServers.kill(@server)
        end

        test "what has ended while the store was dead does not come back with it" do
          bytes = far { |redis| redis.get(NAME) }
          TestServers.kill(@server)
          @here.repository.end(A)
          assert_nil @here.find
          start_with(bytes)
          assert(eventually { @here.find.nil? && far { |redis| redis.get(NAME).nil? } })
          assert(eventually { @there.find.nil? })
        end

        test "who signs out while the store is dead is signed out, here at once and elsewhere when it is back" do
          bytes = far { |redis| redis.get(NAME) }
          found = @here.find
          TestServers.kill(@server)
          refute @here.repository.commit(found, {})
          assert_nil @here.find
          start_with(bytes)
          assert(eventually { @here.find.nil? && far { |redis| redis.get(NAME).nil? } })
          assert(eventually { @there.find.nil? })
        end

        test "who signs out while the store hangs is signed out, also if the call is interrupted" do
          bytes = far { |redis| redis.get(NAME) }
          Process.kill(:STOP, @server.pid)
          assert_raises(Timeout::Error) { Timeout.timeout(0.2) { @here.repository.end(A) } }
          assert_nil @here.find
          TestServers.kill(@server)
          start_with(bytes)
          assert(eventually { @here.find.nil? && far { |redis| redis.get(NAME).nil? } })
          assert(eventually { @there.find.nil? })
        end

        test "while the store is dead nobody is told who is signed in, or that somebody was logged out" do
          TestServers.kill(@server)
          { logged_in?: [1], for: [1], last_seen: [1], logout: [1] }.each do |method, arguments|
            error = assert_raises(Larder::RemoteError) { @here.statistics.public_send(method, *arguments) }
            assert_match(/RedisCacheStore, with copies on each machine cannot tell which sessions/, error.message)
          end
          @server.start
          assert(eventually { answered? { refute @here.statistics.logged_in?(2) } })
        end

        test "a change that the store refuses leaves the session as it was" do
          far { |redis| redis.config(:set, "maxmemory-policy", "noeviction") }
          { "maxmemory" => %w[1 0], "min-replicas-to-write" => %w[3 0] }.each do |name, (refusing, taking)|
            far { |redis| redis.config(:set, name, refusing) }
            found = [@here, machine("alone", backplane: nil)].map do |one|
              assert_raises(UnavailableError) { one.change(one.find, "cart" => 3) }
              assert_raises(Larder::RemoteError) { one.statistics.for(1) }
              one
            end
            far { |redis| redis.config(:set, name, taking) }
            wanted = @there.values
            assert_equal 1, wanted["user_id"]
            refute_equal 3, wanted["cart"]
            assert(eventually { [*found, @there].all? { |one| one.values == wanted } })
            assert(eventually { answered? { @here.change(@here.find, "cart" => name) } })
            assert(eventually { @there.values["cart"] == name })
          end
        end

        test "without a backplane each request asks the store, and what ends while that is dead stays ended" do
          here, there = %w[a b].map { |name| machine(name, backplane: nil) }
          far { |redis| redis.set(NAME, redis.get(NAME).sub('"user_id":1', '"user_id":2')) }
          assert_equal({ "user_id" => 2 }, there.values)
          bytes = far { |redis| redis.get(NAME) }
          TestServers.kill(@server)
          here.repository.end(A)
          assert_raises(Larder::RemoteError) { there.statistics.logout(1) }
          start_with(bytes)
          assert(eventually { here.find.nil? && there.find.nil? })
        end

        test "a store that the application has made stays as it is" do
          store = ActiveSupport::Cache::RedisCacheStore.new(url: url, error_handler: nil)
          one = Machine.new(cache: store, backplane: url, file: path_of("made.larder"))
          assert_equal({ "user_id" => 1 }, one.values)
          store.write("mine", { a: 1 })
          assert_equal({ a: 1 }, store.read("mine"))
          one.stop
          TestServers.kill(@server)
          assert_nil store.read("mine")
        end

        test "options that do not belong together are refused" do
          { { backplane: "redis://localhost" } => /backplane: is for sessions that machines share by cache:/,
            { cache: :memory_store, backplane: 7 } => /backplane: of sessions is 7; it takes the URL/,
            { cache: :memory_store, file: "x" } => /file: and cache: exclude each other/ }.each do |options, message|
            assert_match message, assert_raises(InvalidArgument) { Configuration.new(**options).repository }.message
          end
        end

        test "a store whose servers are not known before it connects is named by cache_id:" do
          at = url
          options = { cache: [:redis_cache_store, { redis: -> { Redis.new(url: at) } }], file: path_of("named.larder") }
          refused = ->(**more) { assert_raises(InvalidArgument) { Configuration.new(**more).repository }.message }
          assert_match(/\Acache: of sessions is a store .* cache_id: "/, refused.call(**options))
          assert_match(/cache_id: 5 is to be a String/, refused.call(**options, cache_id: 5))
          assert_match(/cache_id: .* cache:, which is missing/, refused.call(cache_id: "a"))
          one = Machine.new(**options, cache_id: "sessions", backplane: at)
          assert_equal({ "user_id" => 1 }, one.values)
          one.stop
        end

        private

        def answered?
          yield
          true
        rescue Larder::RemoteError
          false
        end

        def machine(name, backplane: url)
          Machine.new(cache: [:redis_cache_store, { url: url }], backplane: backplane, file: path_of("#{name}.larder"))
        end

        def url
          @server.endpoint.fetch("url")
        end

        def far
          client = Redis.new(url: url)
          yield client
        ensure
          client&.close
        end

        # With the session that the store had, after the pauses of the machines.
        def start_with(bytes)
          @server.start
          far { |redis| redis.set(NAME, bytes) }
          MovedClock.forward(PAUSES)
        end
      end
    end
  end
end
