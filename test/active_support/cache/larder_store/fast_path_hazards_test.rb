# frozen_string_literal: true

# The fast path while Ruby does its worst: closing, forking, other threads and fibers, blocks that never return. What
# may end the process runs in a child, or in a Ruby of its own.

require "support/ordinary_methods"
require "support/store_case"
require "active_support/core_ext/object/try"

module LarderStoreTests
  class FastPathHazardsTest < StoreCase
    FastPath = Larder::Store::FastPath

    CALLS = {
      fetch: ->(store) { store.fetch("a") { 1 } }, read: ->(store) { store.read("a") },
      write: ->(store) { store.write("a", 1) }, delete: ->(store) { store.delete("a") },
      exist?: ->(store) { store.exist?("a") }, read_multi: ->(store) { store.read_multi("a", "b") },
      write_multi: ->(store) { store.write_multi({ "a" => 1 }) },
      fetch_multi: ->(store) { store.fetch_multi("a", "b") { 1 } }, write_other: ->(store) { store.write("a", [1]) },
      fetch_other: ->(store) { store.fetch("new") { [1] } }
    }.freeze

    # What both paths answer, each on a file of its own.
    def both(**options)
      answers = %w[fast ordinary].map do |name|
        cache = new_store("#{name}.larder", error_handler: nil, **options)
        name == "fast" ? yield(cache) : FastPath.without { yield(cache) }
      end
      assert_equal answers.last, answers.first
      answers.first
    end

    # ---- a cache that is closed ----

    test "a closed cache is reported and served around, as on the ordinary path" do
      CALLS.each do |name, call|
        both do |cache|
          reports = []
          cache.level.failsafe.instance_variable_set(:@handler, ->(method:, **) { reports << method })
          call.(cache)
          cache.cache.close
          [name, call.(cache), reports.uniq]
        end
      end
    end

    # Closes the store it was told of, wherever Ruby runs.
    class Closing
      class << self
        attr_accessor :cache

        def close
          cache&.close
        end
      end

      def marshal_dump
        1
      end

      def marshal_load(_)
        Closing.close
      end
    end

    test "a value may close the cache while it is loaded" do
      %i[read fetch read_multi fetch_multi].each do |name|
        answer = in_child do
          store.write_multi({ "a" => Closing.new, "b" => "plain", "c" => "x" * 5000 })
          Closing.cache = store.cache
          names = name.end_with?("multi") ? %w[a b c b] : ["a"]
          store.public_send(name, *names) { "made" }
          store.cache.closed?
        end
        assert_same true, answer, name
      end
    end

    test "an expired value may close the cache while it is loaded" do
      answer = in_child do
        store.write("a", Closing.new, expires_in: 0.001)
        Closing.cache = store.cache
        sleep(0.01)
        [store.read("a"), store.read_multi("a", "b"), store.fetch("a") { 1 }]
      end
      assert_equal [nil, {}, 1], answer
    end

    test "a subscriber may close the cache before the read, and after" do
      [%i[start finish], %i[finish start]].each do |closing, other|
        answer = in_child do
          store.write("a", 1)
          cache = store.cache
          listener = Object.new
          listener.define_singleton_method(closing) { |*| cache.close }
          listener.define_singleton_method(other) { |*| nil }
          ActiveSupport::Notifications.subscribe("cache_read.active_support", listener)
          [store.read("a"), store.fetch("a") { 2 }]
        end
        assert_equal closing == :start ? [nil, 2] : [1, 2], answer
      end
    end

    test "a stubbed clock may close the cache" do
      CALLS.each do |name, call|
        closed = in_child do
          CALLS.fetch(:write).(store)
          cache = store.cache
          Time.define_singleton_method(:now) do
            cache.close
            at(2_000_000_000)
          end
          call.(store)
          cache.closed?
        end
        assert_same true, closed, name
      end
    end

    test "a block may close the cache" do
      assert_equal([1, { "b" => 2, "c" => 2 }, true], in_child do
        first = store.fetch("a") { store.cache.close && nil || 1 }
        [first, store.fetch_multi("b", "c") { 2 }, store.cache.closed?]
      end)
    end

    test "another thread closes and opens while calls are made" do
      answers = in_child do
        ended = false
        stores = [store, new_store("other.larder")]
        closer = Thread.new do
          10.times do
            sleep(0.001)
            stores.each { |one| one.cache.close }
            stores.replace([new_store, new_store("other.larder")])
          end
          ended = true
        end
        seen = []
        seen |= CALLS.values.map { |call| call.(stores.sample).class } until ended
        closer.join
        seen.size
      end
      assert_operator answers, :>, 3
    end

    # ---- blocks ----

    test "blocks that never return leave nothing held" do
      both do |cache|
        ways = [
          -> { cache.fetch("a") { break :broken } }, -> { cache.fetch("a") { next :next } },
          -> { catch(:out) { cache.fetch("b") { throw :out, :thrown } } }, -> { returning_from(cache) },
          -> { cache.fetch("c") { raise "boom" } rescue $!.message }, # rubocop:disable Style/RescueModifier
          -> { cache.fetch("d") { raise StopIteration, "stop" } rescue $!.class.name }, # rubocop:disable Style/RescueModifier
          -> { cache.fetch_multi("e", "f") { |name| name == "f" ? (break :broken) : name } },
          -> { catch(:out) { cache.fetch_multi("e", "f") { |name| throw(:out, 1) if name == "f" } } },
          -> { loop { cache.fetch("g") { raise StopIteration } } && :ended }
        ]
        [ways.map(&:call), cache.read_multi("a", "b", "c", "d", "e", "f", "g")]
      end
    end

    def returning_from(cache)
      cache.fetch("r") { return :returned }
    end

    test "a thread that is killed or interrupted in a block" do
      both do |cache|
        killed = Thread.new { cache.fetch("a") { Thread.current.kill } }
        raised = Thread.new { cache.fetch("b") { Thread.stop || 1 } }
        raised.report_on_exception = false
        Thread.pass until raised.stop?
        raised.raise("from outside")
        message = begin
          raised.value
        rescue RuntimeError => e
          e.message
        end
        [killed.value, message, cache.read_multi("a", "b")]
      end
    end

    test "fibers take turns in the middle of fetches" do
      both do |cache|
        fibers = Array.new(5) do |i|
          Fiber.new { cache.fetch("key/#{i}") { Fiber.yield(i) || cache.fetch_multi("x", "y") { Fiber.yield(i) } } }
        end
        3.times.map { fibers.map { |fiber| fiber.alive? && fiber.resume(nil) } }
          .then { |turns| [turns, cache.read_multi("key/1", "x")] }
      end
    end

    test "fetches inside of fetches, in a fiber with its small stack" do
      nested = ->(cache, depth) { depth.zero? ? 1 : cache.fetch("key/#{depth}") { nested.(cache, depth - 1) + 1 } }
      assert_equal 21, both { |cache| Fiber.new { nested.(cache, 20) }.resume }
      assert_equal 101, both { |cache| nested.(cache, 100) }
    end

    test "endless fetches inside of fetches end as any endless recursion does" do
      output = run_ruby(<<~RUBY, path_of)
        require "active_support"
        require "active_support/cache/larder_store"
        ActiveSupport::Cache.format_version = 7.1
        store = ActiveSupport::Cache::LarderStore.new(ARGV[0], size: 8 << 20)
        deeper = lambda do |name, n|
          store.public_send(name, n) { deeper.(name, n + 1) }
        end
        ways = [->(&block) { block.() }, ->(&block) { Thread.new(&block).value }, ->(&block) { Fiber.new(&block).resume }]
        ended = %i[fetch fetch_multi].product(ways).map do |name, way|
          way.() do
            deeper.(name, 0)
          rescue SystemStackError
            :ended
          end
        end
        print ended.uniq, store.write("a", 1), store.read("a")
      RUBY
      assert_equal "[:ended]true1", output
    end

    # ---- arguments that change or are many ----

    test "options that the block changes are those from before it" do
      freeze_time
      both do |cache|
        options = { expires_in: 100 }
        cache.fetch("a", options) { options[:expires_in] = 1 }
        cache.fetch("b", options) { options.clear }
        cache.fetch("c", options.freeze) { |_, entry| entry.expires_in = 5 }
        %w[a b c].map { |name| Larder::Store::Records.new(cache.cache).get(name, nil).first(3) } + [options]
      end
    end

    test "names and values that a block changes" do
      both do |cache|
        names = [+"a", +"b"]
        found = cache.fetch_multi(*names) { |name| name.replace("#{name}!") }
        list = ["x", +"y"]
        cache.fetch(list) { list[1] << "z" }
        [found, names, cache.read_multi("a", "a!", "b!", "x/y", "x/yz")]
      end
    end

    test "a namespace that the block of a fetch_multi gives the store, in the event" do
      both do |cache|
        hits = []
        cache.write("a", 1)
        listener = ->(*, payload) { hits << payload[:hits] }
        ActiveSupport::Notifications.subscribed(listener, "cache_read_multi.active_support") do
          cache.fetch_multi("a", "b") { cache.namespace = "m" }
          cache.fetch_multi("b", "c") { 1 }
        end
        hits
      end
    end

    test "thousands of names, and the same ones again" do
      many = Array.new(5000) { |i| "key/#{i % 3000}" }
      both do |cache|
        written = cache.write_multi(many.each_with_index.to_h)
        read = cache.read_multi(*many)
        fetched = cache.fetch_multi(*many, "new", "new") { |name| name }
        [written, read, fetched, read.keys.all?(&:frozen?), cache.read("new")]
      end
    end

    test "long keys and large values fill batches in the middle" do
      pairs = Array.new(40) { |i| ["#{i}#{"k" * (100 * i)}", i.to_s * (i * 997)] }.to_h
      both(max_key_size: false) { |cache| [cache.write_multi(pairs), cache.read_multi(*pairs.keys) == pairs] }
    end

    test "values that are given out are the caller's own" do
      both do |cache|
        cache.write("a", +"text")
        found = [cache.read("a"), cache.fetch("a") { nil }, *cache.read_multi("a", :a).values]
        twice = found.each_with_index.map { |text, i| text << i.to_s }
        made = +"made"
        cache.fetch("b") { made } << "4"
        [twice, cache.read("a"), made, cache.read("b")]
      end
    end

    test "what is expired is deleted, however large, also where somebody listens" do
      ["v", [1], "v" * 300_000, ["v" * 300_000]].each do |value|
        kept = both do |cache|
          ActiveSupport::Notifications.subscribed(->(*) {}, "cache_read.active_support") do
            cache.write("key", value, expires_in: 10, race_condition_ttl: 100)
            travel(11.seconds) { [cache.read("key"), cache.cache.get("key", now: Time.now.to_f)] }
          end
        end
        assert_equal [nil, nil], kept
      end
    end

    test "large values are read by the ordinary path, so that other threads can run during the copy" do
      large = "l" * 262_144
      assert_empty replaced_by_rails { store.write("a", large) } # Larder's part of that path stores it
      assert_equal %i[read], replaced_by_rails { store.read("a") }
      assert_equal %i[fetch], replaced_by_rails { store.fetch("a") { 1 } }
      assert_empty replaced_by_rails { store.write_multi({ "a" => large }) }
    end

    # Which of ActiveSupport's methods the block comes into.
    def replaced_by_rails
      entered = []
      traces = %i[fetch read write read_multi write_multi].map do |name|
        trace = TracePoint.new(:call) { entered << name }
        trace.enable(target: OrdinaryMethods[name])
        trace
      end
      yield
      entered
    ensure
      traces.each(&:disable)
    end

    # ---- processes, threads ----

    test "a forked child is on the fast path, and so is its parent" do
      store.write("a", 1)
      child = in_child do
        [store.read("a"), store.write("b", 2), store.fetch("c") { 3 }, FastPath.enabled?(store.class)]
      end
      assert_equal [[1, true, 3, true], { "a" => 1, "b" => 2, "c" => 3 }], [child, store.read_multi("a", "b", "c")]
    end

    test "a child that was forked in a block writes to the same file" do
      pid = nil
      value = store.fetch("a") do
        pid = fork { store.write("child", 1) && exit!(0) }
        wait_for(pid)
        "parent"
      end
      assert_equal ["parent", { "a" => "parent", "child" => 1 }], [value, store.read_multi("a", "child")]
    end

    test "threads read what threads write" do
      threads = Array.new(4) do |t|
        Thread.new do
          300.times do |i|
            store.write("#{t}/#{i}", "#{t}-#{i}" * 50)
            Thread.pass
            raise "wrong" unless store.fetch("#{t}/#{i}") { nil } == "#{t}-#{i}" * 50
            raise "wrong" unless store.read_multi("#{t}/#{i}", "#{t}/no") == { "#{t}/#{i}" => "#{t}-#{i}" * 50 }
          end
          t
        end
      end
      assert_equal [0, 1, 2, 3], threads.map(&:value)
    end
  end
end
