# frozen_string_literal: true

# Calls of the remote store that are left before their answer has come. No later call may get that answer.

require "support/remote_case"
require "support/slow_proxy"
require "dalli"
require "redis"

module LarderStore
  # Larder::Remote::Connections, over Dalli's protocols and the gem redis, with a pool and without.
  class RemoteInterruptedTest < RemoteCase
    # The exception that interrupts a call.
    class Stop < StandardError; end

    # Ways to leave a call.
    WAYS = %i[limited limited_by_class stopped stopped_twice killed].freeze
    # Calls whose answer does not come.
    CALLS = [->(store) { store.read("k1") }, ->(store) { store.read("r1", raw: true) },
             ->(store) { store.read_multi("k1", "k2") }, ->(store) { store.increment("n1") },
             ->(store) { store.write("other", 1) }, ->(store) { store.delete("other") },
             ->(store) { store.write("r1", "bytes of r1", raw: true, unless_exist: true) }].freeze
    # The kinds of clients, and the server of each.
    CLIENTS = {
      "memcached, binary" => ["memcached", { protocol: :binary }],
      "memcached, binary, one client" => ["memcached", { protocol: :binary, pool: false }],
      "memcached, meta" => ["memcached", { protocol: :meta }],
      "Redis" => ["redis", { db: 3 }],
      "Redis, one client" => ["redis", { db: 3, pool: false }]
    }.freeze

    setup do
      @logger, Dalli.logger = Dalli.logger, Logger.new(nil)
      @numbers = (1..4).to_a
    end

    teardown do
      @proxy&.stop
      Dalli.logger = @logger if @logger
    end

    CLIENTS.each do |client, (server, options)|
      WAYS.each do |way|
        test "#{client}: a call is #{way} while it connects" do
          between(server, options)
          CALLS.each { |call| assert_own_values(way, call, machine_between) }
        end

        test "#{client}: a call is #{way} while it waits for its answer" do
          between(server, options)
          store = machine_between
          CALLS.each do |call|
            assert(eventually { store.read("k1") })
            assert_own_values(way, call, store)
          end
        end
      end
    end

    private

    # Fills the server, and puts a proxy before it.
    def between(server, options)
      url = start_once(server).endpoint.fetch("url")
      @proxy = SlowProxy.new(url.delete_prefix("unix://"))
      @kind, @options = server, options
      far = ActiveSupport::Cache.lookup_store(remote(url))
      far.clear
      @numbers.each do |number|
        far.write("k#{number}", "value of k#{number}")
        far.write("r#{number}", "bytes of r#{number}", raw: true)
      end
    end

    def remote(url = nil)
      if @kind == "redis"
        [:redis_cache_store, { url: url || "redis://127.0.0.1:#{@proxy.port}", coder: Larder::Coder.new, **@options }]
      else
        [:mem_cache_store, url || "127.0.0.1:#{@proxy.port}", { coder: Larder::Coder.new, **@options }]
      end
    end

    # @return [ActiveSupport::Cache::LarderStore] whose file has no copies
    def machine_between
      capture_io { @made = machine("one#{@made.object_id}", local_expires_in: 0.001, error_handler: nil) }
      @made
    end

    def assert_own_values(way, call, store)
      @proxy.hold(of: %i[answers])
      send(way) { call.call(store) }
      @proxy.release
      wrong = @numbers.map { |number| wrong(store, number) }
      assert(eventually { store.read("k4") == "value of k4" })
      wrong += @numbers.map { |number| wrong(store, number) }
      assert_empty wrong.flatten.compact
    end

    # @return [Array<Object, nil>] answers that are not those of the keys
    def wrong(store, number)
      found = [store.read("k#{number}"), store.read("r#{number}", raw: true), *store.read_multi("k#{number}").values]
      found - ["value of k#{number}", "bytes of r#{number}", nil]
    end

    def limited(type = nil, &call)
      Timeout.timeout(0.05, type, &call)
    rescue Timeout::Error, Stop
      nil
    end

    def limited_by_class(&call)
      limited(Stop, &call)
    end

    def stopped(times = 1, &call)
      interrupted(call) { |thread| times.times { thread.raise(Stop) } }
    end

    def stopped_twice(&call)
      stopped(2, &call)
    end

    def killed(&call)
      interrupted(call, &:kill)
    end

    # Yields the thread while the proxy holds its answer back.
    def interrupted(call)
      thread = Thread.new(&call)
      thread.report_on_exception = false
      assert(eventually { @proxy.holds? || !thread.alive? })
      yield thread
      thread.join
    rescue Stop
      nil
    end
  end
end
