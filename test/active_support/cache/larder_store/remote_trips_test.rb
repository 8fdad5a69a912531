# frozen_string_literal: true

# How often calls of two levels wait for a Redis, and how many messages they send.

require "support/remote_case"
require "support/trips"
require "redis"

module LarderStore
  class RemoteTripsTest < RemoteCase
    NAMES = Array.new(20) { |number| "k#{number}" }.freeze
    OPTIONS = { expires_in: 300 }.freeze
    FLIGHT = { **OPTIONS, single_flight: true }.freeze
    STALE = { **OPTIONS, stale_while_revalidate: 60, stale_if_error: 60 }.freeze
    TAGS = { **OPTIONS, tags: %w[a b c] }.freeze

    # Trips and messages, at most. None of the keys is there before.
    LIMITS = {
      "read" => [[1, 0], ->(store) { store.read("k") }],
      "write" => [[1, 1], ->(store) { store.write("k", 1, **OPTIONS) }],
      "delete" => [[1, 1], ->(store) { store.delete("k") }],
      "fetch" => [[2, 1], ->(store) { store.fetch("k", **OPTIONS) { 1 } }],
      "write, tags" => [[2, 1], ->(store) { store.write("k", 1, **TAGS) }],
      "write, tags that are new" => [[4, 1], ->(store) { store.write("k", 1, tags: %w[x y z]) }],
      "fetch, single flight" => [[3, 1], ->(store) { store.fetch("k", **FLIGHT) { 1 } }],
      "fetch, single flight, tags" => [[4, 1], ->(store) { store.fetch("k", **FLIGHT, **TAGS) { 1 } }],
      "fetch_multi, single flight" => [[3, 1], ->(store) { store.fetch_multi(*NAMES, **FLIGHT) { 1 } }],
      "fetch_multi, stale serving" => [[3, 1], ->(store) { store.fetch_multi(*NAMES, **STALE) { 1 } }],
      "fetch_multi, tags" => [[3, 1], ->(store) { store.fetch_multi(*NAMES, **TAGS) { 1 } }],
      "fetch_multi, all" => [[4, 1], ->(store) { store.fetch_multi(*NAMES, **FLIGHT, **STALE, **TAGS) { 1 } }],
      "write_multi" => [[1, 1], ->(store) { store.write_multi(NAMES.to_h { |name| [name, 1] }, **OPTIONS) }],
      "write_multi, tags" => [[1, 1], ->(store) { store.write_multi(NAMES.to_h { |name| [name, 1] }, **TAGS) }]
    }.freeze

    # Time that the machine takes for others does not count as that of slow blocks.
    module Still
      private

      def monotonic_now
        0.0
      end
    end
    Larder::Store::ComputedTogether.prepend(Still)

    %w[redis valkey].each do |name|
      test "no call makes more trips to #{name}, or sends more messages" do
        counted = counts(name)
        puts(counted.map { |call, counts| "#{call}: #{counts.inspect}" }) if ENV["TRIPS"]
        LIMITS.each do |call, (limits, _)|
          assert counted[call].zip(limits).all? { |count, limit| count <= limit },
                 "#{call}: #{counted[call].join(" trips and messages: ")}, at most #{limits.join(" and ")}"
        end
      end
    end

    private

    # @return [Hash{String=>Array(Integer, Integer)}] of calls of a store that has found all it needs before
    def counts(name)
      url = start_once(name).endpoint["url"]
      Redis.new(url: url).flushall
      store = machine("one", remote: [:redis_cache_store, { url: url }], backplane: url)
      assert(eventually { store.read("none") || store.cache.trusted? })
      store.write("warm", 1, **TAGS)
      store.fetch("hot", **FLIGHT, **STALE) { 1 }
      LIMITS.transform_values do |_, call|
        store.delete_multi(["k", *NAMES])
        Trips.count { call.call(store) }.tap { puts Trips.log.tally.inspect if ENV["TRIPS"] }
      end
    end
  end
end
