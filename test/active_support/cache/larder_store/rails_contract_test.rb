# frozen_string_literal: true

require "support/store_case"
require "active_support/cache/file_store"
require "active_support/cache/memory_store"

module LarderStoreTests
  # What an application may ask of any store of Rails: MemoryStore, FileStore and both paths of this one answer alike.
  class RailsContractTest < StoreCase
    setup { skip "the stores of Rails 7.1 take other arguments" if ActiveSupport.version < Gem::Version.new("7.2") }

    FastPath = Larder::Store::FastPath
    LarderStore = ActiveSupport::Cache::LarderStore

    # A subclass for each tenant, as applications make it: with options that are set anew.
    module Tenant
      def use_tenant(name)
        @options = @options.merge(namespace: name)
        self
      end
    end

    # Yields a new store of each kind.
    #
    # @return [Object] what all of them answered
    def alike(**options)
      directory = path_of((@asked = @asked.to_i + 1).to_s)
      answers = {
        file: yield(ActiveSupport::Cache::FileStore.new("#{directory}/files", **options)),
        memory: yield(ActiveSupport::Cache::MemoryStore.new(**options)),
        larder: yield(LarderStore.new("#{directory}/fast.larder", size: SIZE, **options)),
        ordinary: FastPath.without { yield(LarderStore.new("#{directory}/ordinary.larder", size: SIZE, **options)) }
      }
      answers.each { |kind, answer| assert_equal answers[:file], answer, kind }
      answers[:file]
    end

    # ---- counting ----

    test "increment and decrement take keywords, with an amount and without" do
      answers = alike do |cache|
        [cache.increment("n", expires_in: 60), cache.increment("n", 4, expires_in: 60), cache.decrement("n"),
         cache.decrement("n", namespace: "other"), cache.increment("n", 2, namespace: "other"),
         cache.decrement("n", 3, namespace: "other"), cache.read("n"), cache.read("n", namespace: "other")]
      end
      assert_equal [1, 5, 4, -1, 1, -2, 4, -2], answers
    end

    test "a counter's keyword expires_in holds" do
      alike do |cache|
        cache.increment("n", expires_in: 60)
        cache.decrement("m", 2, expires_in: 60)
        [travel(59.seconds) { cache.read_multi("n", "m") }, travel(61.seconds) { cache.read_multi("n", "m") }]
      end
    end

    test "options of a counter may be a Hash, as Store's own signature has it" do
      assert_equal 1, store.increment("n", 1, { expires_in: 60 })
      assert_equal(-1, store.decrement("m", 1, { expires_in: 60 }))
      travel(61.seconds) { assert_equal({}, store.read_multi("n", "m")) }
    end

    COUNTED = { "7" => 8, " 7 lives" => 8, "none" => 1, "" => 1, 7.9 => 8, nil => 1, -2 => -1, 3r => 4 }.freeze

    test "whatever has an integer is counted from it, raw or not" do
      [{}, { raw: true }].each do |options|
        answers = alike do |cache|
          COUNTED.keys.map do |value|
            cache.write("n", value, options)
            [cache.increment("n"), cache.read("n", options), cache.decrement("n", 5), cache.read("n")]
          end
        end
        assert_equal COUNTED.values, answers.map(&:first)
      end
    end

    test "a counted entry keeps its expiry and its version" do
      alike do |cache|
        cache.write("n", "7", expires_in: 60, version: 1)
        [cache.increment("n", 1, version: 1), cache.read("n", version: 1), cache.read("n", version: 2),
         travel(59.seconds) { cache.read("n") }, travel(61.seconds) { [cache.read("n"), cache.increment("n")] }]
      end
    end

    test "an entry of another version counts as none" do
      alike do |cache|
        cache.write("n", 7, version: 1)
        [cache.increment("n", 1, version: 2), cache.read("n", version: 2), cache.read("n", version: 1),
         cache.increment("m", 3, version: 2), cache.increment("m", 3, version: 2), cache.read("m", version: 1)]
      end
    end

    # ---- raw ----

    VALUES = [nil, true, false, 0, 7, -7, 2**70, 1.5, "", "7", "text", "ü", "\xFF".b, :sym, [1, [nil]], { "k" => [:v] },
              "long" * 1000, 1..2].freeze

    test "raw values come back as they were written" do
      answers = alike do |cache|
        VALUES.map do |value|
          cache.write("key", value, raw: true)
          [cache.read("key", raw: true), cache.read("key"), cache.exist?("key"), cache.fetch("key") { "made" },
           cache.fetch("key", raw: true) { "made" }, cache.read_multi("key", raw: true)]
        end
      end
      assert_equal VALUES, answers.map(&:first)
    end

    test "raw may be an option of the store" do
      alike(raw: true) do |cache|
        VALUES.map { |value| [cache.write("key", value), cache.read("key"), cache.fetch("key") { "made" }] }
      end
    end

    # ---- race_condition_ttl ----

    test "race_condition_ttl given to fetch alone serves the old value, however short its life was" do
      [0.5, 1, 10, 100, 400].product([1.5, 15, 50, 100, 250, 290]).each do |life, late|
        answer = alike do |cache|
          cache.write("key", "old", expires_in: life)
          travel((life + late).seconds) do
            cache.fetch("key", race_condition_ttl: 300) { [cache.read("key"), cache.fetch("key") { "nobody" }].inspect }
          end
        end
        assert_equal %w[old old].inspect, answer, [life, late].inspect
      end
    end

    # ---- tenants ----

    test "a store whose options are set anew is in the new namespace" do
      answers = alike do |cache|
        cache.write("key", "before")
        cache.extend(Tenant).use_tenant("tenant")
        seen = [cache.read("key"), cache.write("key", "tenant's"), cache.read("key")]
        cache.use_tenant("another")
        seen << cache.fetch("key") { "another's" } << cache.exist?("key") << cache.delete("key") << cache.read("key")
        cache.use_tenant("tenant")
        seen << cache.read_multi("key") << cache.fetch_multi("key", "k") { 1 } << cache.write_multi({ "m" => 1 }).size
        cache.use_tenant("another")
        seen << cache.read_multi("key", "k", "m")
      end
      assert_equal [nil, true, "tenant's", "another's", true, true, nil], answers.first(7)
    end

    test "a store of a subclass that sets its options anew is in the new namespace" do
      below = Class.new(ActiveSupport::Cache::LarderStore) { include Tenant }
      cache = below.new(path_of, size: SIZE, namespace: "one")
      cache.write("key", 1)
      assert_equal 1, cache.read("key")
      assert_nil cache.use_tenant("two").read("key")
      assert_equal true, cache.write("key", 2)
      assert_equal 1, cache.use_tenant("one").read("key")
      assert_equal 2, new_store(namespace: "two").read("key")
    end

    test "a copy whose options are set anew is in the new namespace, and its original in the old one" do
      [:dup, :clone].each do |copy|
        alike do |cache|
          cache.write("key", "original's")
          other = cache.public_send(copy)
          seen = [other.read("key")]
          other.instance_variable_set(:@options, other.options.merge(namespace: "copy", expires_in: 60))
          seen << other.read("key") << other.write("key", "copy's") << cache.read("key") << other.read("key")
          seen << travel(61.seconds) { [cache.read("key"), other.read("key")] }
        end
      end
    end

    test "a copy shares options that are changed in place" do
      alike do |cache|
        cache.write("key", "original's")
        other = cache.dup
        cache.options[:namespace] = "changed"
        [other.read("key"), other.write("key", 1), cache.read("key")]
      end
    end

    test "options set anew to another kind of Hash are read" do
      alike do |cache|
        cache.write("key", 1)
        odd = Hash.new { |_, name| "odd" if name == :namespace }.merge!(cache.options.except(:namespace))
        cache.instance_variable_set(:@options, odd)
        seen = [cache.read("key"), cache.write("key", 2)]
        cache.instance_variable_set(:@options, cache.options.to_a.to_h.merge(namespace: "n"))
        seen << cache.read("key") << cache.write("key", 3) << cache.read("key")
      end
    end

    # ---- compression ----

    test "a call's threshold does not turn compression on" do
      store.write("key", "0" * 900, compress_threshold: 100)
      assert_equal "0" * 900, store.cache.get("key")
      store.write_multi({ "key" => ["0" * 900] }, compress_threshold: 100)
      assert_operator store.cache.get("key").bytesize, :>, 900
      FastPath.without { store.write("key", "0" * 900, compress_threshold: 100) }
      assert_equal "0" * 900, store.cache.get("key")
    end

    NOISE = Random.new(1).bytes(5000)
    UNCOMPRESSED = ["short", 7, nil, [1, 2], { "a" => 1.5 }, NOISE, [NOISE], { noise: NOISE }, Set[1, NOISE],
                    Comparable, [Comparable, NOISE], Time.at(0).utc].freeze

    test "an entry that is not compressed has the same bytes with compress and without" do
      freeze_time
      both = [new_store("with.larder", compress: true), new_store("without.larder", compress: false)]
      [{}, { version: 1 }, { expires_in: 60 }, { expires_in: 60, race_condition_ttl: 90_000 }].each do |options|
        UNCOMPRESSED.each do |value|
          records = both.map do |cache|
            cache.write("key", value, options)
            Larder::Store::Records.new(cache.cache).get("key", nil).first(3)
          end
          assert_equal records.last, records.first, [value, options].inspect[0, 80]
          both.each { |cache| assert_equal value, cache.read("key", options) }
        end
      end
    end

    # ---- what is no length of time ----

    test "an expires_in that is not a number is one clear ArgumentError" do
      nans = [Float::NAN, BigDecimal("NaN"), ActiveSupport::Duration.seconds(Float::NAN)]
      %i[expires_in race_condition_ttl].product(nans).each do |name, nan|
        calls = { write: ["k", 1], fetch: ["k"], read: ["k"], write_multi: [{ "k" => 1 }], fetch_multi: ["k"],
                  exist?: ["k"], increment: ["k", 1], delete: ["k"] }
        calls.each do |method, arguments|
          error = assert_raises(ArgumentError) { store.public_send(method, *arguments, **{ name => nan }) { 1 } }
          assert_match(/\A:#{name} of LarderStore is .*NaN.*it takes seconds/, error.message, method)
        end
        assert_match(/:#{name} of LarderStore/, assert_raises(ArgumentError) { new_store(name => nan) }.message)
      end
      assert_match(/:expires_in/, assert_raises(ArgumentError) do
        store.fetch("k") { |_, entry| (entry.expires_in = Float::NAN) && 1 }
      end.message)
      assert_nil store.read("k")
    end

    # ---- codecs ----

    test "serializers that Rails names raise Rails' own errors" do
      require "active_support/message_pack"
      values = [-> {}, Object.new, Class.new.new, $stdout, Mutex.new, [Thread.current], Hash.new { 1 }]
      %i[message_pack marshal_7_1].each do |name| # rubocop:disable Naming/VariableNumber
        [{}, { compress: true, compress_threshold: 0 }].each do |options|
          values.each do |value|
            alike(serializer: name) do |cache|
              [:written, cache.write("key", value, options) && nil]
            rescue StandardError => e
              [e.class, e.message.gsub(/0x\h+/, "0x")]
            end
          end
        end
      end
    end

    test "a store without a coder is refused at once" do
      error = assert_raises(ArgumentError) { new_store(coder: nil) }
      assert_match(/:coder of LarderStore is nil; it takes .*dump.*load/, error.message)
      assert_raises(ArgumentError) { new_store(coder: Object.new) }
    end

    # ---- times ----

    def portrait(time)
      [time, time.nsec, time.utc_offset, time.zone, time.utc?, time.inspect]
    end

    test "a Time keeps its zone's name as Marshal would, wherever it is read" do
      in_zone("Europe/Berlin") do
        times = [Time.local(2024, 1, 15, 12, 30, 15.5r), Time.local(2024, 7, 15), Time.utc(2024, 7, 15),
                 Time.new(2024, 7, 15, 1, 2, 3, "+02:00"), Time.at(1_700_000_000, in: "UTC"),
                 Time.at(1_700_000_000, in: "-05:00"),
                 Time.at(-5_000_000_000), Time.at(1_700_000_000, 123_456_789, :nsec)]
        store.write("times", times)
        store.write("time", times[0])
        marshalled = Marshal.dump(times)
        ["Europe/Berlin", "Africa/Lagos", "Europe/Paris", "America/New_York", "UTC", "Asia/Tokyo"].each do |zone|
          in_zone(zone) do
            expected = Marshal.load(marshalled).map { |time| portrait(time) }
            assert_equal expected, store.read("times").map { |time| portrait(time) }, zone
            assert_equal expected[0], portrait(store.read("time")), zone
          end
        end
      end
    end

    def in_zone(name)
      before = ENV.fetch("TZ", nil)
      ENV["TZ"] = name
      yield
    ensure
      ENV["TZ"] = before
    end

    # ---- keys ----

    # Says what was asked of it.
    class Expanding < ActiveSupport::Cache::LarderStore
      private

      def expanded_key(key)
        "expanded/#{super}"
      end

      def expanded_version(key)
        super || "v"
      end
    end

    test "a subclass is asked for expanded keys and versions, also of Strings and lists" do
      ["a", :b, 7, ["c", 1], []].each do |name|
        cache = Expanding.new(path_of, size: SIZE)
        cache.write(name, 1)
        assert_equal [cache.send(:expanded_key, name)], cache.cache.each_key.to_a
        entry = cache.cache.each_key.map { |key| Larder::Store::Records.new(cache.cache).get_entry(key, nil) }.first
        assert_equal [1, nil, cache.send(:expanded_version, name)], entry
        cache.clear
      end
    end
  end
end
