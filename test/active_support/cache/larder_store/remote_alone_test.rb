# frozen_string_literal: true

# A store with `remote:` beside the remote store alone, a real Redis.

require "support/remote_case"
require "redis"

module LarderStore
  # Values, namespaces and times to live are those of the remote store.
  class RemoteAloneTest < RemoteCase
    # Of the application.
    class Price
      attr_reader :cents

      def initialize(cents)
        @cents = cents
      end

      def ==(other)
        other.is_a?(Price) && other.cents == cents
      end
    end

    setup do
      @server = start_once("redis")
      raw { |client| client.call("FLUSHDB") }
    end

    test "values of any class that Marshal takes" do
      values = [Price.new(5), [1, { price: Price.new(6) }], /a/i, StandardError, Hash.new(0).merge(a: 1), String,
                Set[1], Time.at(1, 5, :nsec), 3.5r]
      assert_passed_on(values, machine("one"), machine("two"))
      signed = Array.new(2) { |number| machine("signed#{number}", sign_with: "s" * 16) }
      assert_passed_on(values, *signed)
    end

    test "a value that the serializer does not take is refused by both, and leaves the one of before" do
      values = { {} => [proc {}], { serializer: :message_pack } => Price.new(5) }
      values.each do |options, value|
        one = machine("one#{options.size}", remote: remote(**options))
        one.write_multi({ "k" => 1, "l" => 1 })
        error = assert_raises(StandardError) { one.write("k", value) }
        assert_raises(error.class) { one.write_multi({ "l" => value }) }
        assert_raises(error.class) { ActiveSupport::Cache.lookup_store(remote(**options)).write("k", value) }
        assert_equal [1, 1], [one.read("k"), one.read("l")]
        assert_not one.stats[:remote][:waiting]
        one.clear
      end
    end

    test "namespaces of the store and of a call name the same entries" do
      alone = ActiveSupport::Cache.lookup_store(remote(namespace: "app"))
      stores = { "of the remote store" => machine("a", remote: remote(namespace: "app")),
                 "of LarderStore" => machine("b", namespace: "app"),
                 "of both" => machine("c", remote: remote(namespace: "app"), namespace: "app"),
                 "by a block" => machine("d", remote: remote(namespace: -> { "app" })) }
      expected = in_namespaces(alone, alone)
      assert_equal({ own: 1, none: 2, other: 3, own_of_none: nil, written: %w[app:own other:w shared], multi: 4 },
                   expected.slice(:own, :none, :other, :own_of_none, :written, :multi))
      stores.each { |name, store| assert_equal expected, in_namespaces(alone, store), name }
    end

    test "what Larder keeps in the remote store has its namespace" do
      one = machine("one", remote: remote(namespace: "app"), single_flight: true)
      keys = nil
      one.fetch("k", tags: "tag") { (keys = raw { |client| client.call("KEYS", "*") }) && 1 }
      assert(keys.any? && keys.all? { |key| key.start_with?("app:") }, keys.inspect)
      assert_operator raw { |client| client.call("TTL", "app:larder/tag/tag") }, :>, 0, "it would stay for ever"
      one.clear
      assert_empty(raw { |client| client.call("KEYS", "*") })
    end

    test "two namespaces are refused" do
      error = assert_raises(ArgumentError) { machine("one", remote: remote(namespace: "a"), namespace: "b") }
      assert_match(/namespace: of LarderStore is "b", .* remote: is "a".*give one/, error.message)
    end

    test "options that the client of the remote store refuses are refused when the store is made" do
      { { bogus: 1 } => /bogus/, { url: "foo://x" } => /URL/ }.each do |options, message|
        error = assert_raises(ArgumentError) { machine("one", remote: remote(**options)) }
        assert_match(/remote: of LarderStore is :redis_cache_store, .* cannot be made: .*#{message}/, error.message)
      end
    end

    test "raw values live as long as they were given, whatever is said of entries that have expired" do
      [{ race_condition_ttl: 2 }, { stale_if_error: 60 }].each do |terms|
        one = machine("one", **terms)
        one.write("a", "1", raw: true, expires_in: 10)
        one.write_multi({ "b" => "1" }, raw: true, expires_in: 10)
        one.fetch("c", raw: true, expires_in: 10) { "1" }
        one.write("d", "1", raw: true, expires_in: 10, unless_exist: true)
        lives = raw { |client| %w[a b c d].map { |key| client.call("PTTL", key) } }
        assert(lives.all? { |life| life.between?(1, 10_000) }, lives.inspect)
        one.delete_multi(%w[a b c d])
      end
    end

    on_both_paths "raw values are found with any option of stale values and leases" do
      one = machine("one")
      [{ stale_if_error: 60 }, { stale_while_revalidate: 60 }, { early_refresh: true }, { race_condition_ttl: 60 },
       { stale_if_error: 60, soft_timeout: 60 }, { single_flight: true }].each do |more|
        options = { raw: true, expires_in: 60, **more }
        2.times { assert_equal("1", one.fetch("a", options) { "1" }, more) }
        assert_equal("1", one.fetch("a", options) { flunk }, more)
        2.times { assert_equal({ "b" => "1", "c" => "1" }, one.fetch_multi("b", "c", options) { "1" }, more) }
        assert_equal({ "b" => "1", "c" => "1" }, one.fetch_multi("b", "c", options) { flunk }, more)
        assert_equal ["1", { "a" => "1", "b" => "1" }], [one.read("a", options), one.read_multi("a", "b", options)]
        one.delete_multi(%w[a b c])
      end
    end

    test "of callers that miss a raw value one computes it, on all machines, and no file has it" do
      one, two = machine("one"), machine("two")
      [{}, { namespace: "n" }].each do |more|
        runs = Queue.new
        callers = [one, one, two].map do |store|
          Thread.new { store.fetch("k", raw: true, single_flight: true, **more) { runs << sleep(0.2) && "1" } }
        end
        assert_equal [%w[1 1 1], 1], [callers.map(&:value), runs.size]
        assert_equal([[], []], [one, two].map { |store| store.cache.each_key.to_a })
      end
    end

    test "an entry written with unless_exist is in the way of the next until it expires, and no longer" do
      [{ race_condition_ttl: 2 }, { stale_if_error: 60, stale_while_revalidate: 60 }].each do |terms|
        one = machine("one", **terms)
        assert_same true, one.write("lock", "mine", unless_exist: true, expires_in: 10)
        assert_same false, one.write("lock", "other", unless_exist: true, expires_in: 10)
        one.write_multi({ "many" => 1 }, unless_exist: true, expires_in: 10)
        lives = raw { |client| %w[lock many].map { |key| client.call("PTTL", key) } }
        assert(lives.all? { |life| life.between?(1, 10_000) }, lives.inspect)
        one.delete_multi(%w[lock many])
      end
    end

    test "what neither the remote store nor the file has taken was not written" do
      File.write(path_of("file"), "")
      far = [:redis_cache_store, { url: "redis://127.0.0.1:1", reconnect_attempts: 0, error_handler: nil }]
      store = ActiveSupport::Cache.lookup_store(:larder_store, path_of("file/x.larder"), remote: far,
                                                                                         error_handler: nil)
      assert_equal [nil, nil, nil],
                   [store.write("k", 1), store.write_multi({ "k" => 1 }), store.write("k", "1", raw: true)]
      assert_nil store.read("k")
    end

    private

    def remote(**options)
      [:redis_cache_store, { url: @server.endpoint.fetch("url"), **options }]
    end

    def raw
      client = RedisClient.new(path: @server.endpoint.fetch("url").delete_prefix("unix://"))
      yield client
    ensure
      client&.close
    end

    def assert_passed_on(values, one, two)
      values.each do |value|
        assert_same true, one.write("k", value)
        [one, two].each { |store| assert_equal value, store.read("k") }
        one.delete("k")
        two.cache.clear
        assert_equal({ "k" => value }, one.fetch_multi("k") { value })
        assert_equal value, two.fetch("k") { flunk }
        two.cache.clear
      end
    end

    # @return [Hash] what the store finds and leaves
    def in_namespaces(alone, store)
      raw { |client| client.call("FLUSHDB") }
      alone.write("own", 1)
      alone.write("shared", 2, namespace: nil)
      alone.write("t", 3, namespace: "other")
      store.cache.clear if store.respond_to?(:cache)
      found = { own: store.read("own"), none: store.read("shared", namespace: nil),
                other: store.read("t", namespace: "other"), own_of_none: store.read("own", namespace: nil) }
      store.delete("t", namespace: "other")
      store.write("w", 4, namespace: "other")
      found.update(written: names, multi: store.read_multi("w", namespace: "other")["w"],
                   count: store.increment("n", 2, namespace: "other"), own_count: store.increment("n"))
      changes = [-> { store.delete_matched("s*", namespace: nil) }, -> { store.delete_matched("o*") },
                 -> { store.clear(namespace: "other") }, -> { store.clear }, -> { store.clear(namespace: nil) }]
      found.update(left: changes.map { |change| change.call && names })
    end

    # @return [Array<String>] keys that Redis has
    def names
      raw { |client| client.call("KEYS", "*") }.sort
    end
  end
end
