# frozen_string_literal: true

require "test_helper"
require "redis"
require "redis/distributed"
require "support/moved_clock"
require "support/redis_cluster"
require "support/two_machines"

module Larder
  module Sessions
    module Backends
      # How many sessions are used, and which there are, in the stores of `cache:`.
      class CountedStoreTest < ActiveSupport::TestCase
        include TwoMachines

        before_each_store "activity is counted on all machines" do
          @here.begin("a", { "user_id" => 1 })
          @there.begin("b", { "user_id" => 2 })
          @there.begin("c", { "cart" => 1 })
          assert_equal [[3, 2, 1]] * 2, active(300)
          assert_equal({ active_1m: 3, active_5m: 3, active_1h: 3, active_1d: 3 }, @here.statistics.stats)
          [@here, @there].each { |one| one.ahead = 600 }
          assert_equal [[0, 0, 0], [3, 2, 1]], [300, 3600].map { |last| active(last).first }
          assert @here.change(@here.find("c"), "user_id" => 3)
          assert @here.change(@here.find("a"), {})
          assert_equal [[2, 2, 0], [3, 3, 0]], [300, 3600].map { |last| active(last).last }
          assert @there.repository.renew(@there.find("b"), @there.key("d"), { "user_id" => 2 })
          @there.repository.end(@there.key("d"))
          assert_equal [[2, 2, 0]] * 2, active(3600)
          [@here, @there].each { |one| one.ahead += 86_400 }
          assert_equal [[0, 0, 0], [2, 2, 0]], [3600, 7 * 86_400].map { |last| active(last).first }
        end

        before_each_store "counters expire", [["Redis", false], ["Solid Cache", false], ["a FileStore", false]] do
          @here.begin("a", { "user_id" => 1 })
          store = ActiveSupport::Cache.lookup_store(*@typed)
          keys = %w[m h d].zip([60, 3600, 86_400]).map do |name, step|
            Store.name_of("n/#{name}#{@here.repository.now.div(step)}")
          end
          if @typed.first == :redis_cache_store
            lives = keys.map { |key| store.redis.then { |client| client.ttl(key) } }
            assert_equal [3 * 3600, 4 * 86_400, 400 * 86_400], lives.map { |life| life.ceil(-1) }
          else
            travel(3.5.hours) { assert_equal [nil, "1", "1"], keys.map { |key| low(key) } }
          end
        end

        test "sessions that many machines use at the same time are all counted" do
          [["Redis", false], ["memcached", true]].each do |place|
            start(*place)
            threads = 4.times.map do |i|
              Thread.new { 25.times { |n| [@here, @there][i % 2].begin("#{i}/#{n}", { "user_id" => n }) } }
            end
            threads.each(&:join)
            assert_equal [[100, 100, 0]] * 2, active(300)
          end
        end

        test "users who are online are read from Redis, with copies and without" do
          [false, true].each do |copies|
            start("Redis", copies)
            @here.begin("a", { "user_id" => 1 })
            @here.ahead = 600
            @there.ahead = 601
            @here.begin("b", { "user_id" => 2 })
            @there.begin("c", { "user_id" => 3 })
            @there.begin("d", { "cart" => 3 })
            assert_equal %w[User/3 User/2], @here.statistics.online(last: 60).keys
            assert_equal %w[User/3], @here.statistics.online(last: 60, limit: 1).keys
            assert_equal %w[User/3 User/2 User/1], @there.statistics.online(last: 1200).keys
            @there.statistics.logout(2)
            assert_equal %w[User/3], @here.statistics.online(last: 60).keys
            @there.statistics.logout_all
            assert_empty @here.statistics.online(last: 1200)
          end
        end

        test "anonymous sessions in Redis are ended everywhere, and no others" do
          [false, true].each do |copies|
            start("Redis", copies)
            @here.begin("a", { "user_id" => 1 })
            %w[b c].each { |name| @there.begin(name, { "cart" => 3 }) }
            found = @there.find("b")
            assert_equal 2, @here.statistics.clear_anonymous
            soon { %w[b c].none? { |name| @there.find(name) } }
            refute @there.change(found, "cart" => 4)
            assert @there.find("a")
            assert_equal [[1, 1, 0]] * 2, active(300)
          end
        end

        test "only the sessions of the namespace are looked at, whatever characters that has" do
          start("Redis", false)
          names = ["a[bc]*", "ab", "a?", "a\\", nil]
          machines = names.each_with_index.map do |name, i|
            typed = [:redis_cache_store, { **@typed.last, namespace: name }]
            machine("namespace#{i}", cache: typed)
          end
          machines.each_with_index do |one, i|
            { "a" => { "user_id" => i }, "b" => { "n" => 1 } }.each { |key, values| one.begin(key, values) }
          end
          assert_equal names.each_index.map { |i| ["User/#{i}"] },
                       machines.map { |one| one.statistics.online(last: 60).keys }
          machines.each { |one| assert_equal 1, one.statistics.clear_anonymous }
        end

        test "thousands of sessions are read, by a call for hundreds" do
          start("Redis", false)
          record = @here.begin("a", { "user_id" => 1 }) && @here.find("a").bytes
          Redis.new(url: url_of("redis")).pipelined do |line|
            3000.times { |i| line.set(Store.name_of("s/#{@here.key(i.to_s)}"), record.sub("User/1", "User/#{i % 9}")) }
          end
          assert_equal 9, @here.statistics.online(last: 60).size
          calls = []
          count_calls(@here, calls)
          assert_equal 3001, @here.repository.sessions.count
          assert_operator calls.size, :<, 40
        end

        test "several servers of Redis are read one after the other" do
          start("Redis", false)
          servers = Array.new(2) { |i| server_in("redis#{i}") }
          urls = servers.map { |server| server.endpoint["url"] }
          one = machine("distributed", cache: [:redis_cache_store, { url: urls }])
          20.times { |i| one.begin(i.to_s, { "user_id" => i }) }
          assert_equal 20, one.statistics.online(last: 60).size
          assert_equal 20, one.statistics.active(last: 60, signed_in: true)
          assert servers.all? { |server| Redis.new(url: server.endpoint["url"]).dbsize.positive? }
          TestServers.kill(servers.last)
          assert_raises(UnavailableError) { one.statistics.online(last: 60) }
        ensure
          servers&.each(&:stop)
        end

        test "a cluster is read, too" do
          skip("redis-server is not installed") unless RedisCluster::Node.path
          require "redis-clustering"
          cluster = RedisCluster.new(directory).start
          client = Redis::Cluster.new(nodes: cluster.nodes.map(&:url), timeout: 2)
          one = machine("cluster", cache: [:redis_cache_store, { redis: client }])
          @machines = [one]
          20.times { |i| one.begin(i.to_s, i.even? ? { "user_id" => i } : { "n" => 1 }) }
          assert_equal 10, one.statistics.online(last: 60).size
          assert_equal [20, 10], [nil, true].map { |kind| one.statistics.active(last: 60, signed_in: kind) }
          assert_equal 10, one.statistics.clear_anonymous
          one.statistics.logout_all
          assert(20.times.none? { |i| one.find(i.to_s) })
        ensure
          cluster&.stop
        end

        test "a dead server of memcached neither signs users out, nor lets in those who were signed out" do
          type = Larder::Lab::Servers.fetch("memcached")
          skip "memcached is not installed" unless type.path
          servers = Array.new(2) { |i| server_in("memcached#{i}", type) }
          one = machine("several", cache: [:mem_cache_store, *servers.map { |server| server.endpoint["url"] },
                                           { protocol: :meta, failover: false }])
          names = Array.new(12, &:to_s)
          names.each { |name| one.begin(name, { "user_id" => 1 }) }
          one.statistics.logout_all
          more = names.map { |name| "more #{name}" }.each { |name| one.begin(name, { "user_id" => 2 }) }
          TestServers.kill(servers.find { |server| !entry_of(server, Store.name_of(Logouts::EPOCH)) })
          found = (names + more).to_h { |name| [name, answer { one.find(name) && true }] }
          assert_empty found.values_at(*names) - [nil, UnavailableError]
          assert_empty found.values_at(*more) - [true, UnavailableError]
          assert_includes found.values, UnavailableError
        ensure
          servers&.each(&:stop)
        end

        test "a memcached that hangs, or goes on, is not taken for one without sessions" do
          server = server_in("memcached", Larder::Lab::Servers.fetch("memcached"))
          one = machine("hangs", cache: [:mem_cache_store, server.endpoint["url"]])
          one.begin("a", { "user_id" => 1 })
          assert one.find("a")
          Process.kill(:STOP, server.pid)
          soon { ::File.read("/proc/#{server.pid}/stat")[/\) (.)/, 1] == "T" }
          [-> { one.find("a") }, -> { one.statistics.logged_in?(1) }, -> { one.statistics.active(last: 60) },
           -> { one.statistics.logout_all }].each do |question|
            assert_raises(UnavailableError, &question)
            MovedClock.forward(3) # after the pause
          end
          Process.kill(:CONT, server.pid)
          soon { answer { one.find("a") }.is_a?(Repository::Found) }
        ensure
          Process.kill(:CONT, server.pid) if server&.pid
          server&.stop
        end

        test "counters that cannot be changed stop no request" do
          start("Redis", false)
          server = server_in("own")
          one = machine("one", cache: [:redis_cache_store, { url: server.endpoint["url"] }])
          Redis.new(url: server.endpoint["url"]).call("ACL", "SETUSER", "default", "-incrby")
          assert one.begin("a", { "user_id" => 1 })
          assert one.change(one.find("a"), "n" => 1)
          assert one.repository.end(one.key("a"))
          assert_equal 0, one.statistics.active(last: 60)
        ensure
          server&.stop
        end

        before_each_store "a store that cannot list sessions says what to use",
                          PLACES.drop(2) do
          @here.begin("a", { "user_id" => 1 })
          [-> { @here.statistics.online(last: 60) }, -> { @here.statistics.clear_anonymous }].each do |question|
            error = assert_raises(UnsupportedError, &question)
            assert_match(/\A\S+::(MemCacheStore|Store|FileStore)\b.* cannot list its sessions.*a Redis in cache:/,
                         error.message)
          end
          assert_raises(UnsupportedError) { @here.statistics.recount }
        end

        private

        def active(last)
          [@here, @there].map do |one|
            [nil, true, false].map { |kind| one.statistics.active(last: last, signed_in: kind) }
          end
        end

        def low(key)
          store = StoreBuilder.build(:cache, @typed)
          (number = store.read(key, raw: true)) && (number.to_i >> 32).to_s
        end

        def entry_of(server, name)
          client = Dalli::Client.new(server.endpoint["url"], protocol: :meta)
          client.get(name)
        ensure
          client&.close
        end

        def answer
          yield
        rescue UnavailableError => error
          error.class
        end

        def count_calls(machine, calls)
          remote = machine.larder.remote
          %i[read_multi attempt].each do |method|
            remote.define_singleton_method(method) do |*arguments, **options, &block|
              calls << method if method == :read_multi || arguments == [:scan]
              super(*arguments, **options, &block)
            end
          end
        end
      end
    end
  end
end
