# frozen_string_literal: true

require "support/remote_case"
require "dalli"

module LarderStoreTests
  # Keys of any bytes and encoding with two levels: each call answers what the same store answers without `remote:`.
  class RemoteKeysTest < RemoteCase
    KEYS = ["caf\xE9", "caf\xE9".b, "\xFF\x00\n\r ".b, "é", "é".b, "x".encode("UTF-16LE"), "é".encode("UTF-16BE"),
            "caf\u00E9".encode("ISO-8859-1"), "\u3042".encode("EUC-JP"), "a\xE9" * 400, "{\xE9}*?[", "%E9\xE9",
            ["a", "\xE9"], "plain"].freeze
    # Without a backplane.
    SHORT = { local_expires_in: 0.001 }.freeze
    # A name, the machine that calls, and the call of a store with a key.
    CALLS = [
      [:write, 0, ->(store, key) { store.write(key, 1) }],
      [:read, 0, ->(store, key) { store.read(key) }],
      [:read, 1, ->(store, key) { store.read(key) }],
      [:write_again, 1, ->(store, key) { store.write(key, 2) }],
      [:read_again, 0, ->(store, key) { store.read(key) }],
      [:exist?, 1, ->(store, key) { store.exist?(key) }],
      [:fetch, 0, ->(store, key) { store.fetch(key) { 3 } }],
      [:delete, 0, ->(store, key) { store.delete(key) }],
      [:read_deleted, 1, ->(store, key) { store.read(key) }],
      [:fetch_miss, 1, ->(store, key) { store.fetch(key) { 4 } }],
      [:single_flight, 0, ->(store, key) { store.fetch([key, "f"], single_flight: true) { 5 } }],
      [:stale_if_error, 0, ->(store, key) { store.fetch([key, "s"], stale_if_error: 60, expires_in: 60) { 6 } }],
      [:write_multi, 0, ->(store, key) { store.write_multi({ key => 7 }) }],
      [:read_multi, 1, ->(store, key) { store.read_multi(key, "none") }],
      [:fetch_multi, 1, ->(store, key) { store.fetch_multi(key, "other") { 8 } }],
      [:unless_exist, 0, ->(store, key) { store.write(key, 9, unless_exist: true) }],
      [:delete_multi, 0, ->(store, key) { store.delete_multi([key, "none"]) }],
      [:read_multi_deleted, 1, ->(store, key) { store.read_multi(key) }],
      [:raw, 0, ->(store, key) { [store.write([key, "r"], "1", raw: true), store.read([key, "r"], raw: true)] }],
      [:increment, 1, ->(store, key) { [store.increment([key, "n"]), store.decrement([key, "n"], 1)] }],
      [:tags, 0, ->(store, key) { store.write([key, "t"], 10, tags: [key]) }],
      [:read_tagged, 1, ->(store, key) { store.read([key, "t"]) }],
      [:delete_tagged, 0, ->(store, key) { store.delete_tagged(key) && nil }],
      [:read_tag_deleted, 1, ->(store, key) { store.read([key, "t"]) }],
      [:namespace, 0, ->(store, key) { store.write(key, 11, namespace: "n\xE9") }],
      [:read_namespace, 1, ->(store, key) { store.read(key, namespace: "n\xE9") }],
      [:clear, 1, ->(store, _) { store.clear && nil }],
      [:read_cleared, 0, ->(store, key) { store.read(key, namespace: "n\xE9") }]
    ].freeze

    # Seconds. A server that gets no processor for one second has not failed.
    PATIENT = 20

    { "redis" => ->(server) { [:redis_cache_store, { url: server.endpoint.fetch("url"), timeout: PATIENT }] },
      "memcached" => ->(server) { [:mem_cache_store, server.endpoint.fetch("url"), { socket_timeout: PATIENT }] },
      nil => ->(_) { ActiveSupport::Cache::MemoryStore.new } }.each do |name, made|
      [nil, "redis"].each do |backplane|
        test "calls with #{name || "a MemoryStore"} answer as without it#{", with a backplane" if backplane}" do
          remote = made.call(name && start(name))
          told = { backplane: start(backplane).endpoint.fetch("url") } if backplane
          machines = %w[one two].map { |machine| machine(machine, remote: remote, **(told || SHORT)) }
          different = nil
          errors = reported { different = difference(new_store("alone.larder"), machines) }
          assert_nil different, errors.map(&:message).join("\n")
          assert_empty errors
        end
      end
    end

    test "a Redis takes the characters of a namespace as they are" do
      url = start("redis").endpoint.fetch("url")
      { "t[1]" => "t1", "s*" => "sale", "q?" => "q1", "b\\x" => "bx", "c^\xE9" => "c\xE9" }.each do |name, other|
        one, two = [name, other].map { |namespace| of_namespace(url, namespace) }
        { clear: [], delete_matched: ["k*"] }.each do |method, arguments|
          [one, two].each { |store| store.write("k1", 1) }
          assert_same true, one.public_send(method, *arguments)
          assert_equal [nil, nil, 1], [one, of_namespace(url, name), of_namespace(url, other)].map { |s| s.read("k1") }
        end
      end
    end

    test "a change of such keys that the remote store has not got is applied when it is back" do
      server = start("redis")
      one, two = %w[one two].map { |name| machine(name, remote: [:redis_cache_store, { url: server.endpoint["url"] }]) }
      far = ActiveSupport::Cache::RedisCacheStore.new(url: server.endpoint["url"])
      TestServers.kill(server)
      reported { KEYS.each { |key| one.delete(key) } && one.delete_matched("glob*\xE9*") }
      server.start
      KEYS.each { |key| far.write(key, 1) } && far.write("glob caf\xE9", 1)
      assert(eventually { caught_up?(one) })
      assert_equal([nil], KEYS.map { |key| two.read(key) }.uniq)
      assert_nil two.read("glob caf\xE9")
    end

    test "changes of keys of any length are listed for all processes" do
      server = start("redis")
      remote = [:redis_cache_store, { url: server.endpoint["url"] }]
      one, other = %w[one one].map { |name| machine(name, remote: remote, max_key_size: false) }
      keys = [4084, 4085, 4086, 4095, 4096, 5000].map { |bytes| "k" * bytes }
      keys.each { |key| one.write(key, 1) && one.write(key, 1, namespace: "n") }
      TestServers.kill(server)
      reported { keys.each { |key| one.delete(key) && one.delete(key, namespace: "n") } }
      assert_equal keys.size * 2, other.stats.dig(:remote, :listed)
      server.start
      assert(eventually { caught_up?(other) })
      assert_empty(reported { assert_equal([nil], keys.map { |key| one.read(key) }.uniq) })
      assert_empty(reported { assert one.write(keys.last, 2) && (assert_equal 2, other.read(keys.last)) })
    end

    private

    def of_namespace(url, name)
      machine("of #{@count = @count.to_i + 1}", remote: [:redis_cache_store, { url: url }], namespace: name)
    end

    # @return [String, nil] the first answer that is not the one of a store without `remote:`
    def difference(alone, machines)
      last = 0
      CALLS.each do |call, number, block|
        settle(machines[last], machines[number]) unless last == number
        KEYS.each do |key|
          wanted, found = [alone, machines[number]].map { |store| answer(store, key, block) }
          return "#{call} of #{key.inspect}: #{wanted.inspect}, with remote: #{found.inspect}" unless found == wanted
        end
        last = number
      end
      nil
    end

    # Waits until another machine has handled all messages, or its copies have ended.
    def settle(one, other)
      number = SecureRandom.hex
      one.write("settled", number)
      assert(eventually { other.read("settled") == number })
      Kernel.sleep(SHORT[:local_expires_in])
    end

    # @return [Object] what the call answers, or the class of what it raises
    def answer(store, key, block)
      block.call(store, key)
    rescue StandardError => e
      e.class
    end
  end
end
