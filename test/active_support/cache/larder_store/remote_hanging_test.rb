# frozen_string_literal: true

# A remote store whose server hangs: after some calls no other waits for it, whatever its client is.

require "support/moved_clock"
require "support/remote_case"
require "support/solid_cache_application"
require "redis"

module LarderStore
  # Larder::Remote::CircuitBreaker before a remote store.
  class RemoteHangingTest < RemoteCase
    # The report of a call that is not made.
    NOT_MADE = /did not answer, and is not called/
    # Seconds after which each pause is over that follows a failure.
    PAUSES = 3
    # Stores on one Redis, by how their client is made.
    CLIENTS = {
      "a URL" => ->(url) { { url: url, read_timeout: 0.2 } },
      "a URL, and one client" => ->(url) { { url: url, read_timeout: 0.2, pool: false } },
      "a block" => ->(url) { { redis: -> { Redis.new(url: url, timeout: 0.2, reconnect_attempts: 1) } } },
      "a client" => ->(url) { { redis: Redis.new(url: url, timeout: 0.2) } }
    }.freeze

    setup { @errors = Queue.new }

    teardown { resume(@server) if @server }

    CLIENTS.each do |kind, options|
      test "a Redis of #{kind} that hangs is not called after three calls, and is called again when it goes on" do
        @server = start_once("redis")
        one = hanging([:redis_cache_store, { coder: Larder::Coder.new, **options.call(@server.endpoint.fetch("url")) }])
        3.times { |number| assert_nil one.read("far#{number}") }
        refute_match NOT_MADE, messages.join
        [-> { one.read("far") }, -> { one.delete("k") }, -> { one.increment("n") }, -> { one.read_multi("a", "b") }]
          .each(&:call)
        assert_equal 4, messages.grep(NOT_MADE).size
        resume(@server)
        MovedClock.forward(PAUSES)
        assert(eventually { one.write("new", 1) && one.stats[:remote][:listed].zero? && caught_up?(one) })
        assert(eventually { one.increment("n") })
      end
    end

    test "calls that Timeout interrupts count, too" do
      @server = start_once("redis")
      one = hanging([:redis_cache_store, { url: @server.endpoint.fetch("url"), read_timeout: 60 }])
      3.times { |number| assert_raises(Timeout::Error) { Timeout.timeout(0.3) { one.read("far#{number}") } } }
      assert_nil one.read("far")
      assert_match NOT_MADE, messages.last
    end

    test "one of two servers hangs: keys of the other are read" do
      @server, other = start("redis"), start("redis")
      urls = [@server, other].map { |server| server.endpoint.fetch("url") }
      one = machine("one", remote: [:redis_cache_store, { url: urls, read_timeout: 0.1, reconnect_attempts: 0 }],
                           local_expires_in: 0.001, error_handler: ->(exception:, **) { @errors << exception })
      names = Array.new(20) { |number| "k#{number}" }
      one.write_multi(names.to_h { |name| [name, name] })
      halt(@server)
      found = names.filter_map { |name| one.read(name) }
      assert_includes 1..19, found.size
      assert_equal(found, names.filter_map { |name| one.read(name) })
      refute_match NOT_MADE, messages.join
    end

    slow_test "a PostgreSQL that hangs holds some callers, and no later one" do
      skip "the gem pg is not in the bundle" unless Gem.loaded_specs.key?("pg")

      @server = start("postgresql")
      one = hanging(SolidCacheApplication.cache_store(@server.endpoint.fetch("url")), children: true)
      held = []
      assert(eventually do
        held << Thread.new { one.read("far#{held.size}") }
        held.last.join(0.5) && messages.grep(NOT_MADE).any?
      end)
      5.times { assert_nil one.read("far") }
      resume_all
      assert(eventually { held.none?(&:alive?) })
      assert(eventually { one.write("new", 1) && one.stats[:remote][:listed].zero? && caught_up?(one) })
    ensure
      resume_all
      SolidCacheApplication.cache_store
    end

    private

    # @return [ActiveSupport::Cache::LarderStore] whose server hangs
    def hanging(remote, children: false)
      one = machine("one", remote: remote, remote_id: "cache", local_expires_in: 0.001,
                           error_handler: ->(exception:, **) { @errors << exception })
      one.write("k", 1)
      @hanging = children ? TestServers.pids(@server) : [@server.pid]
      @hanging.each { |pid| Process.kill(:STOP, pid) }
      one
    end

    def resume_all
      @hanging&.each { |pid| Process.kill(:CONT, pid) }
    end

    # @return [Array<String>] of all errors until now
    def messages
      @messages ||= []
      @messages << @errors.pop.message until @errors.empty?
      @messages
    end
  end
end
