# frozen_string_literal: true

# Calls of the handler of a signal (`trap`), which can take no lock, over real servers and stores without one.

require "support/remote_case"
require "redis"
require "dalli"

module LarderStore
  # They are answered as if the remote store did not answer, and what they change is in the journal.
  class RemoteSignalsTest < RemoteCase
    NAMES = %w[a b].freeze
    STORES = {
      "redis" => proc { redis }, "redis without a pool" => proc { redis(pool: false) },
      "memcached" => proc { [:mem_cache_store, start_once("memcached").endpoint.fetch("socket")] },
      "memory" => proc { [:memory_store, {}] }, "files" => proc { [:file_store, path_of("files")] }
    }.freeze
    # Calls, the answers, and how many changes are listed then.
    CALLS = {
      "read" => [->(store) { store.read("a") }, nil, 0],
      "a raw read" => [->(store) { store.read("a", raw: true) }, nil, 0],
      "read_multi" => [->(store) { store.read_multi(*NAMES) }, {}, 0],
      "exist?" => [->(store) { store.exist?("a") }, false, 0],
      "read_counter" => [->(store) { store.read_counter("n") }, nil, 0],
      "fetch" => [->(store) { store.fetch("a") { 2 } }, 2, 1],
      "fetch with single_flight:" => [->(store) { store.fetch("a", single_flight: true) { 2 } }, 2, 1],
      "fetch with tags:" => [->(store) { store.fetch("a", tags: "t") { 2 } }, 2, 1],
      "fetch with stale_while_revalidate:" => [->(store) { store.fetch("a", stale_while_revalidate: 9) { 2 } }, 2, 1],
      "fetch with soft_timeout:" => [->(store) { store.fetch("a", stale_if_error: 9, soft_timeout: 1) { 2 } }, 2, 1],
      "fetch_multi" => [->(store) { store.fetch_multi(*NAMES) { 2 } }, { "a" => 2, "b" => 2 }, 2],
      "write" => [->(store) { store.write("a", 2) }, true, 1],
      "a raw write" => [->(store) { store.write("a", "2", raw: true) }, nil, 1],
      "write with unless_exist:" => [->(store) { store.write("a", 2, unless_exist: true) }, nil, 0],
      "write_multi" => [->(store) { store.write_multi({ "a" => 2, "b" => 2 }) && 1 }, 1, 2],
      "delete" => [->(store) { store.delete("a") }, false, 1],
      "delete_multi" => [->(store) { store.delete_multi(NAMES.dup) }, 0, 2],
      "delete_tagged" => [->(store) { store.delete_tagged("t") }, nil, 1],
      "increment" => [->(store) { store.increment("n") }, nil, 0],
      "decrement" => [->(store) { store.decrement("n") }, nil, 0],
      "clear" => [lambda(&:clear), nil, 1],
      "cleanup" => [lambda(&:cleanup), 0, 0]
    }.freeze

    setup { plain.clear }

    STORES.each do |name, remote|
      test "over #{name} each call answers as if that did not answer" do
        far = instance_exec(&remote)
        results = in_child { CALLS.keys.to_h { |call| [call, result_of(call, far)] } }
        assert_equal(CALLS.transform_values { |_, answer, listed| [answer, listed, []] }, results)
      end
    end

    CALLS.each do |call, (_, answer, listed)|
      test "#{call} as the first call of a process answers as if the remote store did not answer" do
        far = redis
        assert_equal [answer, listed, []], in_child { result_of(call, far) }
      end
    end

    test "a delete is applied, and a copy is answered" do
      one = machine("one", remote: redis)
      one.write_multi({ "a" => 1, "b" => 1 })
      assert_equal [1, true], in_handler { [one.read("b"), one.delete("a")] }
      assert_nil one.read("a")
      assert(eventually { one.read("none").nil? && !one.stats[:remote][:waiting] })
      assert_equal [nil, 1], plain.read_multi("a", "b").values_at("a", "b")
    end

    test "delete_matched is applied where the remote store takes the pattern" do
      one = machine("one", remote: redis)
      one.write_multi({ "a1" => 1, "b" => 1 })
      in_handler { one.delete_matched("a*") }
      assert(eventually { one.read("none").nil? && !one.stats[:remote][:waiting] })
      assert_equal({ "b" => 1 }, plain.read_multi("a1", "b"))
    end

    test "a handler that interrupts a call of the only connection changes neither its answer nor that of later calls" do
      one = machine("one", remote: redis(pool: { size: 1, timeout: 5 }))
      handled = 0
      during("USR2", -> { one.read("b#{handled += 1}") || one.delete("a#{handled % 5}") }) do
        number = 0
        sender = Thread.new { Process.kill(:USR2, Process.pid) && Kernel.sleep(0.002) until handled > 100 }
        while sender.alive?
          one.write("w", number += 1)
          one.cache.delete("w")
          assert_includes [nil, number], one.read("w") # nil: the journal lists changes
        end
      ensure
        sender&.kill&.join
      end
      assert(eventually { one.read("none").nil? && !one.stats[:remote][:waiting] })
    end

    test "without a journal a delete of a handler is remembered, also if it interrupts a delete, and applied" do
      one = machine("one", remote: redis, error_handler: nil)
      plain.write_multi(50.times.to_h { |number| ["k#{number}", "old"] })
      Dir.mkdir(path_of("one.larder.journal"))
      numbers = (0...50).each
      during("USR2", -> { one.delete("k#{numbers.next}") }) do
        25.times do
          Process.kill(:USR2, Process.pid)
          one.delete("k#{numbers.next}")
        end
      end
      assert_raises(StopIteration) { numbers.next }
      Dir.rmdir(path_of("one.larder.journal"))
      assert(eventually { one.read("none").nil? && !one.stats[:remote][:waiting] })
      assert_empty plain.read_multi(*50.times.map { |number| "k#{number}" })
      assert_empty Dir.glob(path_of("*.pending"))
    end

    test "while the journal lists changes a handler finds nothing, and the next call applies them" do
      one = machine("one", remote: redis)
      plain.write("a", 1)
      one.remote.outbox.journal.note(:delete, ["b"])
      assert_nil(in_handler { one.read("a") })
      assert(eventually { one.read("a") == 1 })
    end

    test "with raise_errors: true the error says why" do
      one = machine("one", remote: redis, raise_errors: true)
      error = in_handler { assert_raises(Larder::RemoteError) { one.read("a") } }
      assert_equal "the handler of a signal cannot ask the remote store to read", error.message
    end

    test "a handler reports once" do
      Larder::Reports.reset
      output = capture_subprocess_io do
        one = machine("one", remote: redis)
        in_handler { 5.times { |number| one.read("a#{number}") && one.delete("b#{number}") } }
      end
      assert_equal 1, output.join.scan("the handler of a signal cannot ask the remote store").size
    end

    private

    def redis(**options)
      [:redis_cache_store, { url: start_once("redis").endpoint.fetch("url"), **options }]
    end

    def plain
      @plain ||= ActiveSupport::Cache.lookup_store(redis(coder: Larder::Coder.new))
    end

    # @return [Array] the answer, how many changes are listed, and other errors than those of the remote store
    def result_of(call, far)
      reports = []
      handler = ->(exception:, **) { reports << exception.class }
      store = machine(call.tr("^a-z", "_"), remote: far, error_handler: handler)
      answer = in_handler { CALLS.fetch(call).first.call(store) }
      [answer, store.stats[:remote][:listed], reports.uniq - [Larder::RemoteError]]
    end

    # @return [Object] the block's value
    def in_handler(&block)
      answers = []
      during("USR2", -> { answers << outcome(&block) }) do
        Process.kill(:USR2, Process.pid)
        eventually { answers.any? }
      end
      answer, error = answers.first
      error ? raise(error) : answer
    end

    def outcome
      [yield, nil]
    rescue Exception => e # rubocop:disable Lint/RescueException -- it is raised by the caller
      [nil, e]
    end

    def during(signal, handler)
      before = trap(signal) { handler.call }
      yield
    ensure
      trap(signal, before || "DEFAULT")
    end
  end
end
