# frozen_string_literal: true

# The fast path while Ruby collects and moves what it may, with nobody listening and with subscribers and a log: in a
# Ruby of its own, for what goes wrong here ends the process.

require "support/store_case"

module LarderStoreTests
  class FastPathCollectionsTest < StoreCase
    # Ruby 3.1 with auto_compact ends itself also where nothing but Ruby code was loaded ("try to mark T_NONE object",
    # in its own tables of methods): nobody could tell whose fault it is.
    EXERCISE = <<~RUBY
      def move_at_every_collection = RUBY_VERSION >= "3.2" && GC.respond_to?(:auto_compact=) && GC.auto_compact = true
      require "set"
      require "active_support"
      require "active_support/cache/larder_store"
      ActiveSupport::Cache.format_version = 7.1
      Item = Struct.new(:id) do
        def cache_key = "items/\#{id}"
        def cache_version = "v\#{id}"
      end
      def exercise(store, round, many = 70, sizes = [0, 9, 100, 1030, 5000, 300_000])
        sizes.each do |size|
          value = round.to_s * size
          raise "fetch" unless store.fetch("f\#{size}/\#{round}", expires_in: 60) { value } == value
          raise "hit" unless store.fetch("f\#{size}/\#{round}") { 1 } == value
          raise "read" unless store.read(["f\#{size}", round]) == value
        end
        row = { "name" => "n\#{round}", "at" => Time.utc(2026), set: Set[round], "k\#{round}" => [1.5, nil, 1r, 2..3] }
        ["sym\#{round}".to_sym, 1.5 * round, -round, nil, true, { a: [round] }, "b".b, [row, row], row].each do |value|
          raise "write" unless store.write(:value, value, expires_in: 900, race_condition_ttl: 5)
          raise "value" unless store.read(:value) == value && store.exist?(:value)
        end
        pairs = many.times.to_h { |i| ["m\#{round}/\#{i}", i.odd? ? "v" * (i * 40) : [i]] }
        plain = many.times.to_h { |i| ["p\#{round}/\#{i}", "v" * (i * 40)] }
        [pairs, plain].each do |all|
          raise "write_multi" unless store.write_multi(all) == all
          raise "read_multi" unless store.read_multi(*all.keys, "no") == all
          fetched = store.fetch_multi(*all.keys, "n\#{round}") { |name| name }
          raise "fetch_multi" unless fetched == all.merge("n\#{round}" => "n\#{round}")
        end
        records = many.times.map { |i| Item.new("i\#{round}/\#{i}") }
        records.each do |record|
          name = [:views, ["a", nil], record]
          text = "t\#{record.id}" * 200
          space = -> { "n\#{record.id}" }
          raise "record" unless store.fetch(name, namespace: space) { text } == text && store.read(name, namespace: space)
          raise "write record" unless store.write(record, text) && store.read(record) == text && store.exist?(record)
          raise "version" unless store.read(record, version: "w\#{round}").nil?
        end
        raise "records" unless store.write_multi(records.to_h { |record| [[record], record.id] })
        raise "read records" unless store.read_multi(*records.map { |record| [record] }).size == many
        raise "delete" unless store.delete(:value)
      end
      store = ActiveSupport::Cache::LarderStore.new(ARGV[0], size: 32 << 20)
      exercise(store, 1)
    RUBY

    LISTEN = <<~RUBY
      def told = @told ||= Hash.new(0)
      def listen
        names = /\\Acache_.*\\.active_support\\z/
        seen = ->(name, _, _, _, payload) { told[name] += 1 if payload[:key].inspect && payload[:store].frozen? }
        ActiveSupport::Notifications.subscribed(seen, names) { yield }
      end
      def listen_and_log
        ActiveSupport::Cache::Store.logger = ActiveSupport::Logger.new(IO::NULL)
        listen { yield }
      ensure
        ActiveSupport::Cache::Store.logger = nil
      end
    RUBY

    # A look at everything that takes seconds, as it does there, would be most of what is exercised.
    STRESS = "Larder::Store::FastPath.define_singleton_method(:check) { nil }; GC.stress = true"

    slow_test "everything works while every allocation collects" do
      output = run_ruby(<<~RUBY, path_of)
        #{EXERCISE}
        #{STRESS}
        exercise(store, 2, 4, [9, 1030, 5000])
        GC.stress = false
        print "sound"
      RUBY
      assert_equal "sound", output
    end

    slow_test "somebody may listen while every allocation collects" do
      output = run_ruby(<<~RUBY, path_of)
        #{EXERCISE}
        #{LISTEN}
        listen do
          exercise(store, 2) # once without, for what is loaded at the first call
          #{STRESS}
          raise "fetch" unless store.fetch("key", expires_in: 60) { "v" * 1030 } == "v" * 1030
          raise "hit" unless store.fetch("key") { 1 } == "v" * 1030 && store.read(["m1", 2]) == [2]
          raise "multi" unless store.read_multi("key", "m1/1").size == 2 && store.fetch_multi("n") { |name| name }.one?
          GC.stress = false
        end
        print told.values_at("cache_read.active_support", "cache_fetch_hit.active_support").map(&:positive?)
      RUBY
      assert_equal "[true, true]", output
    end

    test "somebody may listen and read the log while every collection moves what it may" do
      output = run_ruby(<<~RUBY, path_of)
        require "active_support/core_ext/object/blank"
        require "active_support/logger"
        #{EXERCISE}
        #{LISTEN}
        if GC.respond_to?(:compact)
          move_at_every_collection
          2.times do |i|
            growth = RUBY_VERSION >= "3.2" ? { expand_heap: true } : { double_heap: true }
            GC.verify_compaction_references(toward: :empty, **growth) if i == 1
            GC.compact
            listen { exercise(store, i) }
            listen_and_log { exercise(store, i + 10) }
          end
        end
        print "sound", told.size > 4
      RUBY
      assert_equal "soundtrue", output
    end

    test "everything works while every collection moves what it may" do
      output = run_ruby(<<~RUBY, path_of)
        #{EXERCISE}
        if GC.respond_to?(:compact)
          GC.verify_compaction_references(toward: :empty) rescue GC.compact
          exercise(store, 2)
          move_at_every_collection
          subclass = Class.new(ActiveSupport::Cache::LarderStore).new(ARGV[0])
          8.times do |i|
            GC.compact
            exercise([store, subclass][i % 2], i)
          end
        end
        print "sound"
      RUBY
      assert_equal "sound", output
    end
  end
end
