# frozen_string_literal: true

# Single flight of keys that the journal lists: the remote store must not be asked for them.

require "support/remote_case"
require "redis"

module LarderStore
  class RemoteFlightListedTest < RemoteCase
    # No call waits.
    FLIGHT = { single_flight: true, wait: 0 }.freeze
    REMOTES = {
      "a Redis" => ->(test) { [:redis_cache_store, { url: test.url }] },
      "a Redis that runs no scripts" => lambda do |test|
        Redis.new(url: test.url).call("ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-@scripting")
        [:redis_cache_store, { url: test.url, username: "plain", password: "secret" }]
      end,
      "a FileStore" => ->(test) { [:file_store, test.path_of("files")] }
    }.freeze
    # Changes that were applied, and are applied once more some seconds later.
    CHANGES = { "a delete of the key" => [:delete, ["k"]], "a clear" => [:clear, [""]] }.freeze

    REMOTES.keys.product(CHANGES.to_a).each do |name, (what, change)|
      test "after #{what} a value is computed at once and stored, over #{name}" do
        one, two = machines(name)
        apply(one, change)
        assert_empty(reported { assert_equal(1, one.fetch("k", FLIGHT) { 1 }) })
        assert_equal [1, 1], [one.fetch("k", FLIGHT) { flunk }, two.read("k")]
        assert_not waiting?(one), "it is deleted again"
      end

      test "after #{what} fetch_multi does the same with all its keys, over #{name}" do
        one, two = machines(name)
        apply(one, change)
        assert_empty(reported { assert_equal %w[j k], one.fetch_multi("j", "k", FLIGHT) { |key| key }.values })
        assert_equal({ "j" => "j", "k" => "k" }, two.read_multi("j", "k"))
        assert_not waiting?(one), "they are deleted again"
      end
    end

    def url
      start_once("redis").endpoint["url"]
    end

    private

    # @return [Array<ActiveSupport::Cache::LarderStore>]
    def machines(name)
      remote = REMOTES.fetch(name).call(self)
      %w[one two].map { |machine| machine(machine, remote: remote) }.each(&:clear)
    end

    def apply(store, change)
      store.fetch("first", FLIGHT) { 1 } # the refusal of scripts is reported
      store.remote.outbox.journal.note(*change)
      store.read("other")
      assert_not waiting?(store)
    end

    def waiting?(store)
      store.stats[:remote][:waiting]
    end
  end
end
