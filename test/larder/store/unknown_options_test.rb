# frozen_string_literal: true

require "active_support/core_ext/hash/indifferent_access"
require "support/store_case"

module Larder
  module Store
    # Options that have no effect: which are logged, where, how often, and what the line proposes.
    class UnknownOptionsTest < StoreCase
      setup { UnknownOptions.reset }
      teardown { UnknownOptions.reset }

      CALLS = {
        fetch: ->(store, options) { store.fetch("k", options) { 1 } },
        read: ->(store, options) { store.read("k", options) },
        write: ->(store, options) { store.write("k", 1, options) },
        read_multi: ->(store, options) { store.read_multi("k", options) },
        write_multi: ->(store, options) { store.write_multi({ "k" => 1 }, options) },
        fetch_multi: ->(store, options) { store.fetch_multi("k", options) { 1 } },
        increment: ->(store, options) { store.increment("n", 1, options) },
        delete: ->(store, options) { store.delete("k", options) },
        delete_multi: ->(store, options) { store.delete_multi(["k"], options) },
        delete_matched: ->(store, options) { store.delete_matched(/k/, options) },
        exist?: ->(store, options) { store.exist?("k", options) },
        clear: ->(store, options) { store.clear(options) }
      }.freeze

      test "the constructor logs options that it does not have, and what was probably meant" do
        { path: 'the path is the first argument: config.cache_store = :larder_store, "storage/cache.larder"',
          file: "the path is the first argument", ttl: "did you mean :expires_in?", tag: "did you mean :tags?",
          single_fligth: "did you mean :single_flight?", sise: "did you mean :size?", max_age: "mean :expires_in?",
          "expirs_in" => "did you mean :expires_in?", "size" => "did you mean :size?", my_option: "and ignores it",
          "my_option" => "and ignores it", 7 => "and ignores it", nil => "and ignores it" }.each do |name, words|
          line = logged { ActiveSupport::Cache::LarderStore.new(path_of, { name => 1, expires_in: 5 }) }
          assert_match(/\A#{__FILE__}:#{__LINE__ - 1}: larder: LarderStore has no option #{name.inspect}/, line)
          assert_includes line, words
          assert_equal 1, line.lines.size
        end
      end

      test "an option of calls alone is logged by the constructor, and the other way round" do
        line = logged { ActiveSupport::Cache::LarderStore.new(path_of, expires_at: Time.now) }
        assert_includes line, ":expires_at of LarderStore is an option of calls and has no effect in the constructor"
        line = logged { store.write("k", 1, size: 5) }
        assert_includes line, ":size of LarderStore is an option of the constructor and has no effect in a call"
        line = logged { store.write("k", 1, max_entries: 5) }
        assert_includes line, "did you mean :size? It is an option of the store, not of calls"
      end

      CALLS.each do |name, call|
        on_both_paths "#{name} logs an unknown option once in a process, whether it hits or misses" do
          store
          lines = logged do
            2.times { call.call(store, { ttl: 5, stale_while_revalidte: 5 }) }
            call.call(new_store("other.larder"), { ttl: 6 })
          end.lines
          assert_equal 2, lines.size, lines.inspect
          assert_match(/has no option :ttl; did you mean :expires_in\?$/, lines.first)
          assert_match(/has no option :stale_while_revalidte; did you mean :stale_while_revalidate\?$/, lines.last)
        end
      end

      on_both_paths "names that are Strings are logged once, with the Symbol" do
        options = { expire_in: 5, tags: "t" }.with_indifferent_access
        lines = logged { 2.times { store.write("k", 1, options) } }.lines
        assert_equal [":expire_in?", ":tags?"], lines.map { |line| line.chomp[/did you mean (.*)/, 1] }
      end

      test "options of Rails' other stores and helpers are not logged" do
        others = { pool: { size: 5 }, url: "redis://127.0.0.1", redis: nil, driver: :hiredis, connect_timeout: 1,
                   reconnect_attempts: 1, error_handler: nil, failover: true, value_max_bytes: 1, databases: [],
                   max_prune_time: 2, sentinels: [], name: "mymaster", sentinel_username: "u", sentinel_password: "p",
                   idle_timeout: 30, circuit_breaker: {}, concurrency: {} }
        calls = { coder: nil, serializer: nil, compressor: nil, skip_digest: true, pool: 1, max_key_size: 9 }
        assert_empty(logged do
          made = ActiveSupport::Cache::LarderStore.new(path_of, size: SIZE, **others)
          CALLS.each_value { |call| call.call(made, calls) }
        end)
      end

      test "no option that has an effect is logged, wherever Larder or Rails pass it on" do
        taken = { expires_in: 60, race_condition_ttl: 5, namespace: "n", compress: true, compress_threshold: 9,
                  skip_nil: true, single_flight: true, wait: 1, lease: 1, stale_while_revalidate: 5, stale_if_error: 5,
                  soft_timeout: 1, early_refresh: true, tags: "t", jitter: 0.1, version: "1", raw: true }
        assert_empty(logged do
          [new_store("a.larder", **taken), store].each do |each|
            CALLS.each_value { |call| FastPath.without { call.call(each, taken) } }
            each.write("k", 1, expires_at: Time.now + 5, unless_exist: true)
            each.write_counter("c", 5, expires_in: 5)
            each.read_counter("c", namespace: "n")
          end
        end)
      end

      test "an option of a subclass is logged by the constructor, and not again by each call" do
        lines = logged do
          made = Class.new(ActiveSupport::Cache::LarderStore).new(path_of, mine: 1, size: SIZE)
          CALLS.each_value { |call| FastPath.without { call.call(made, { expires_in: 5 }) } }
        end.lines
        assert_equal 1, lines.size
        assert_match(/:mine/, lines.first)
      end

      test "without a logger the line goes to standard error" do
        ActiveSupport::Cache::Store.with(logger: nil) do
          assert_output(nil, /larder: LarderStore has no option :ttl/) { store.write("k", 1, ttl: 5) }
        end
      end

      test "Rails' logger is used where the cache has none" do
        output = run_ruby(<<~RUBY, path_of)
          require "logger"
          require "stringio"
          LOG = StringIO.new
          module Rails
            def self.logger = Logger.new(LOG)
            def self.env = "production"
            def self.root = nil
          end
          require "active_support/cache/larder_store"
          ActiveSupport::Cache::LarderStore.new(ARGV[0], ttl: 5)
          puts LOG.string
        RUBY
        assert_match(/WARN -- : -e:10: larder: LarderStore has no option :ttl; did you mean :expires_in\?/, output)
      end

      test "a process that makes up names logs a thousand at most" do
        lines = logged { 1_100.times { |number| store.read("k", "name #{number}": 1) } }.lines
        assert_equal 1_000, lines.size
      end

      private

      # @return [String] the lines at the level "warn"
      def logged(&block)
        io = StringIO.new
        logger = ActiveSupport::Logger.new(io, level: Logger::WARN)
        ActiveSupport::Cache::Store.with(logger: logger, &block)
        io.string
      end
    end
  end
end
