# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # When the block of `fetch` raises: which options answer with the old value, and which exceptions are not the block's.
  class StaleErrorsTest < StoreCase
    Refreshes = Larder::Store::Refreshes
    EXPIRES = { expires_in: 10 }.freeze
    IF_ERROR = { **EXPIRES, stale_if_error: 60 }.freeze
    STORED = %i[stale_while_revalidate stale_if_error].freeze
    AGES = { fresh: 0, stale: 11, too_old: 100 }.freeze

    teardown do
      assert Refreshes.await(30)
      assert_empty Larder::Store::Flights.held
    end

    RAISES = %i[raises raises raises raises].freeze
    # Answers of calls whose block raises: :hit, it did not run in this call; :old, it did; :raises. For each option:
    # of a fresh entry, a stale one, one that is too old, none; first without force: true, then with it.
    ANSWERS = {
      {} => [%i[hit raises raises raises], RAISES],
      { early_refresh: true } => [%i[hit raises raises raises], RAISES],
      { stale_while_revalidate: 60 } => [%i[hit hit raises raises], RAISES],
      { stale_if_error: 60 } => [%i[hit old raises raises], %i[old old raises raises]],
      { soft_timeout: 60 } => [%i[hit raises raises raises], RAISES],
      { stale_while_revalidate: 60, early_refresh: true } => [%i[hit hit raises raises], RAISES],
      { stale_while_revalidate: 60, stale_if_error: nil } => [%i[hit hit raises raises], RAISES],
      { stale_while_revalidate: 60, stale_if_error: 60 } => [%i[hit hit raises raises], %i[old old raises raises]]
    }.freeze

    ANSWERS.each do |options, answers|
      on_both_paths "where the block raises, with #{options}" do
        [[{}, answers[0]], [{ force: true }, answers[1]]].each do |force, expected|
          [{}, { single_flight: true }].each do |more|
            found = [*AGES, [:missing, nil]].map { |_, age| answer(age, { **EXPIRES, **options, **more, **force }) }
            assert_equal expected, found, { **more, **force }
            found = AGES.map { |_, age| answer_of_multi(age, { **EXPIRES, **options, **more, **force }) }
            assert_equal expected.first(3), found, ["fetch_multi", more, force]
          end
        end
      end
    end

    # Each in an entry of its own, kept for all ages.
    def answer(age, options)
      answer_of(age) { |key, block| store.fetch(key, options, &block) }
    end

    def answer_of_multi(age, options)
      answer_of(age) { |key, block| store.fetch_multi(key, options, &block)[key] }
    end

    def answer_of(age)
      key = "key #{@number = @number.to_i + 1}"
      store.write(key, "old", **IF_ERROR, stale_while_revalidate: 60) if age
      thread, ran = Thread.current, false
      block = lambda do |*|
        ran ||= Thread.current.equal?(thread)
        raise IOError
      end
      travel(age.to_i.seconds) do
        reports_of do
          assert_equal "old", yield(key, block)
          assert Refreshes.await(30)
        end
      end
      ran ? :old : :hit
    rescue IOError
      :raises
    end

    on_both_paths "an entry that another caller has stored while the block ran is the answer only if it is allowed" do
      { early_refresh: :raises, stale_while_revalidate: :raises, stale_if_error: "other" }.each do |name, expected|
        options = { name => name == :early_refresh || 60 }
        store.delete("key")
        found = nil
        reports_of do
          found = store.fetch("key", **EXPIRES, **options) { store.write("key", "other", **EXPIRES) && raise(IOError) }
        rescue IOError
          found = :raises
        end
        assert_equal expected, found, options
      end
    end

    on_both_paths "a value that comes and expires while the block runs is not served without its block" do
      STORED.product([{}, { single_flight: true }]) do |name, more|
        options = { **EXPIRES, name => 60, **more }
        store.write("key", "old", **options)
        travel 11.seconds
        comes = lambda do |*|
          new_store.write("key", "new", **options, expires_in: 3)
          travel 4.seconds
          raise IOError
        end
        runs = Queue.new
        reports_of do
          [comes, ->(*) { (runs << true) && raise(IOError) }].each do |block|
            store.fetch("key", **options, &block)
            assert Refreshes.await(30)
          end
        end
        assert_equal 1, runs.size, options
      end
    end

    on_both_paths "options of the store count, as those of the call" do
      cache = new_store(**EXPIRES, early_refresh: true)
      cache.write("key", "old")
      assert_raises(IOError) { cache.fetch("key", force: true) { raise IOError } }
      reports_of { assert_equal("old", cache.fetch("key", force: true, stale_if_error: 5) { raise IOError }) }
    end

    test "a copy that is not trusted is served after soft_timeout only with stale_if_error" do
      copy = ActiveSupport::Cache::Entry.new("copy", expires_in: 60)
      gate = Queue.new
      reads = Larder::Store::TwoLevels::Reads.new(new_store(remote: ActiveSupport::Cache::MemoryStore.new).level)
      reply = ->(options) { reads.send(:softly, copy, Larder::Store::Call.new("k", "k", options)) { gate.pop } }
      assert_same copy, reply.call({ soft_timeout: 0.01, stale_if_error: 60 })
      gate << :the_pool << :asked
      assert Refreshes.await(30)
      assert_equal :asked, reply.call({ soft_timeout: 0.01 })
    end

    # ---- exceptions from outside of the block ----

    # As rack-timeout's, of a thread of its own.
    RequestTimeout = Class.new(RuntimeError)
    # As Sidekiq's, which ends its threads so.
    Shutdown = Class.new(Interrupt)

    def expired
      store.delete("key")
      store.write("key", "old", **IF_ERROR)
      travel 11.seconds
    end

    # Runs `fetch` in a thread, and yields that thread when its block waits.
    def fetching(waits = -> { sleep })
      inside = Queue.new
      thread = Thread.new do
        Thread.current.report_on_exception = false
        store.fetch("key", **IF_ERROR) do
          inside << true
          waits.call
        end
      end
      inside.pop
      Thread.pass until thread.stop?
      yield thread
      thread.value
    end

    on_both_paths "an exception that another thread raises into the block is raised, whatever its class" do
      [RequestTimeout, StandardError, IOError, Timeout::Error, Shutdown, NoMemoryError].each do |type|
        expired
        assert_equal "why", assert_raises(type) { fetching { |thread| thread.raise(type, "why") } }.message
        assert_equal "new", store.fetch("key", **IF_ERROR) { "new" }, "it does not count as fresh"
      end
    end

    on_both_paths "so it is with single_flight, by whose lease the old value is not made fresh" do
      options = { **IF_ERROR, single_flight: true }
      store.write("key", "old", **options)
      travel 11.seconds
      inside = Queue.new
      thread = Thread.new do
        Thread.current.report_on_exception = false
        store.fetch("key", **options) { inside << true && sleep }
      end
      inside.pop
      thread.raise(RequestTimeout)
      assert_raises(RequestTimeout) { thread.value }
      assert_equal("new", store.fetch("key", **options) { "new" })
    end

    on_both_paths "a time limit around the call is raised, with a class and without, also over one of the block" do
      waits = { "no limit" => -> { sleep }, "one" => -> { Timeout.timeout(60) { sleep } },
                "one with a class" => -> { Timeout.timeout(60, KeyError) { sleep } } }
      [[], [RequestTimeout], [Timeout::Error]].each do |type|
        waits.each do |inner, block|
          expired
          assert_raises(type.first || Timeout::Error, inner) do
            Timeout.timeout(0.02, *type) { store.fetch("key", **IF_ERROR) { block.call } }
          end
        end
      end
    end

    on_both_paths "a time limit that the block sets itself is its failure, with a class and without" do
      [[], [RequestTimeout], [Timeout::Error]].each do |type|
        expired
        reports_of do
          Timeout.timeout(60, KeyError) do
            assert_equal("old", store.fetch("key", **IF_ERROR) { Timeout.timeout(0.02, *type) { sleep } })
          end
        end
      end
    end

    on_both_paths "an error that the block raises as it cleans up after such an exception does not hide it" do
      { RequestTimeout => :itself, Shutdown => :interrupt }.each_key do |type|
        expired
        cleaning = lambda do
          sleep
        ensure
          raise IOError, "while cleaning up"
        end
        error = assert_raises(IOError) { fetching(cleaning) { |thread| thread.raise(type) } }
        assert_instance_of type, error.cause
      end
    end

    on_both_paths "an exception that was raised before the call is not one of its block" do
      expired
      thread = Thread.new do
        sleep
      rescue RequestTimeout
        reports_of { Thread.current[:found] = store.fetch("key", **IF_ERROR) { raise IOError } }
        Thread.current[:found]
      end
      Thread.pass until thread.stop?
      thread.raise(RequestTimeout)
      assert_equal "old", thread.value
    end

    on_both_paths "an exception that is raised into a fiber of the block is raised" do
      expired
      fiber = Fiber.new { store.fetch("key", **IF_ERROR) { Fiber.yield } }
      fiber.resume
      assert_raises(RequestTimeout) { fiber.raise(RequestTimeout) }
    end

    on_both_paths "an error is answered with the old value while another fiber computes the next" do
      options = { **IF_ERROR, single_flight: true }
      store.fetch("key", options) { "old" }
      travel 11.seconds
      fiber = Fiber.new { store.fetch("key", options) { Fiber.yield || "new" } }
      fiber.resume
      reports_of { assert_equal("old", store.fetch("key", **options, wait: 0) { raise IOError }) }
      assert_equal "new", fiber.resume
    end

    on_both_paths "of nested calls, neither takes such an exception for a failure" do
      expired
      store.write("outer", "old", **IF_ERROR)
      travel 22.seconds
      inside = Queue.new
      thread = Thread.new do
        Thread.current.report_on_exception = false
        store.fetch("outer", **IF_ERROR) { store.fetch("key", **IF_ERROR) { inside << true && sleep } }
      end
      inside.pop
      Thread.pass until thread.stop?
      thread.raise(RequestTimeout)
      assert_raises(RequestTimeout) { thread.value }
    end
  end
end
