# frozen_string_literal: true

require "support/openers_lock"
require "support/store_case"

module LarderStoreTests
  # Processes that compute a value for all others, and are killed at a random moment. LARDER_FLIGHTS=200 for many.
  class SingleFlightKillTest < StoreCase
    include OpenersLock

    FLIGHTS = Integer(ENV.fetch("LARDER_FLIGHTS", 12))
    THREADS = 6
    BLOCK_SECONDS = 0.05
    LONG_TO_OPEN = 128 << 20
    OPTIONS = { single_flight: true, wait: 30, lease: 30 }.freeze

    # The block notes that it ran before it computes.
    def compute(key)
      store.fetch(key, OPTIONS) do
        store.increment("runs of #{key}")
        sleep BLOCK_SECONDS
        "#{Process.pid} #{store.read_counter("runs of #{key}")}"
      end
    end

    def start_owner(key)
      fork { exit!(compute(key) ? 0 : 1) }.tap do |owner|
        until store.read_counter("runs of #{key}")
          refute Process.wait(owner, Process::WNOHANG), "the owner ended before its block began"
          sleep 0.001
        end
      end
    end

    def start_waiters(key)
      fork do
        values = Array.new(THREADS) { Thread.new { compute(key) } }.map(&:value)
        exit!(values.uniq.size == 1 && values.first == store.read(key) ? 0 : 1)
      end
    end

    test "processes that have not opened the file yet are among those who wait" do
      10.times do |round|
        name = "new #{round}.larder"
        processes = Array.new(4) { fork { compute_in_new_process(name) } }
        statuses = processes.map { |pid| Process.wait2(pid).last }
        assert statuses.all?(&:success?)
        assert_equal 1, new_store(name, size: LONG_TO_OPEN).read_counter("runs of key")
        File.delete(path_of(name))
      end
    end

    test "they wait for the file as long as for a value, while another process makes or closes it" do
      new_store("busy.larder", size: LONG_TO_OPEN).write("x", 1)
      process = nil
      holding_openers_lock(path_of("busy.larder")) do
        process = fork { compute_in_new_process("busy.larder") }
        sleep 1.5 # longer than one attempt to open it
        assert_nil Process.wait(process, Process::WNOHANG), "it has not waited"
      end
      assert_predicate Process.wait2(process).last, :success?
    end

    def compute_in_new_process(name)
      @store = ActiveSupport::Cache.lookup_store(:larder_store, path_of(name), { size: LONG_TO_OPEN })
      exit!(Array.new(THREADS) { Thread.new { compute("key") } }.map(&:value).uniq.size == 1 ? 0 : 1)
    end

    test "an owner that is killed costs one more run, and all others get one value" do
      random = Random.new(Minitest.seed)
      FLIGHTS.times do |flight|
        key = "flight #{flight}"
        owner = start_owner(key)
        waiters = [start_waiters(key), start_waiters(key)]
        sleep random.rand(BLOCK_SECONDS)
        Process.kill(:KILL, owner)
        wait_for(owner)
        assert(waiters.all? { |waiter| wait_for(waiter).success? }, key)
        assert_includes 1..2, store.read_counter("runs of #{key}"), key
      end
    end

    test "an owner that lives costs no more runs, and all others get its value" do
      FLIGHTS.times do |flight|
        key = "flight #{flight}"
        children = [start_owner(key), start_waiters(key), start_waiters(key)]
        assert(children.all? { |child| wait_for(child).success? }, key)
        assert_equal 1, store.read_counter("runs of #{key}"), key
      end
    end
  end
end
