# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # The time that a value took to compute is of that value, whatever else its fiber, thread or process does.
  class EarlyRefreshTest < StoreCase
    LIFE = 0.3
    OPTIONS = { expires_in: LIFE, early_refresh: true }.freeze
    SLOW = proc { sleep(0.2) && "slow" }
    LOOKS = 300

    setup { freeze_time }
    teardown { assert Larder::Store::Refreshes.await(30) }

    # True if some of many callers compute the value again early. None does if its compute time is 0 or much shorter.
    def early?(key)
      records = store.level.records
      LOOKS.times.any? { records.early?(key, (Time.now.to_f * 1000).to_i) }
    end

    on_both_paths "a fetch has the time of its block, and a write that follows has none" do
      store.fetch("slow", **OPTIONS, &SLOW)
      store.write("after", 1, **OPTIONS)
      store.write_multi({ "many" => 1 }, **OPTIONS)
      store.fetch("quick", **OPTIONS) { 1 }
      assert_equal [true, false, false, false], %w[slow after many quick].map { |key| early?(key) }
    end

    on_both_paths "a value that a block writes or fetches has a time of its own, and the block's value has its whole" do
      store.fetch("outer", **OPTIONS) do
        SLOW.call
        store.write("written", 1, **OPTIONS)
        store.fetch("inner", **OPTIONS) { 1 }
      end
      assert_equal [true, false, false], %w[outer written inner].map { |key| early?(key) }
    end

    on_both_paths "a block that raises, throws or ends leaves no time behind" do
      ends = { raise: -> { raise IOError }, throw: -> { throw :away }, kill: -> { Thread.current.kill } }
      ends.each do |name, ending|
        Thread.new do
          catch(:away) { store.fetch(name.to_s, **OPTIONS) { SLOW.call && ending.call } }
        rescue IOError
          nil
        ensure
          store.write("after #{name}", 1, **OPTIONS)
        end.join
        refute early?("after #{name}"), name
      end
    end

    on_both_paths "so do blocks that fibers run in turn" do
      quick = Fiber.new { store.fetch("quick", **OPTIONS) { 1 } }
      slow = Fiber.new do
        store.fetch("slow", **OPTIONS) do
          SLOW.call
          Fiber.yield
        end
      end
      slow.resume
      quick.resume
      slow.resume
      assert_equal [true, false], %w[slow quick].map { |key| early?(key) }
    end

    on_both_paths "fetch_multi has a time for each key, and options of the store count" do
      cache = new_store(**OPTIONS)
      cache.fetch_multi("slow", "quick") { |key| key == "slow" ? SLOW.call : 1 }
      cache.fetch("other") { 1 }
      cache.fetch("another", single_flight: true, &SLOW)
      assert_equal [true, false, false, true], %w[slow quick other another].map { |key| early?(key) }
    end

    on_both_paths "options that the block sets, nil that is skipped and the events are as without the option" do
      store.fetch("key", **OPTIONS) { |_, options| options.expires_in = 60 }
      travel(30.seconds) { assert store.exist?("key") }
      assert_nil(store.fetch("nil", skip_nil: true, **OPTIONS) { nil })
      refute store.exist?("nil")
      names = events_of { store.fetch("events", **OPTIONS) { 1 } }.map(&:name)
      assert_equal(%w[cache_generate cache_read cache_write].map { |name| "#{name}.active_support" }, names.sort)
    end
  end
end
