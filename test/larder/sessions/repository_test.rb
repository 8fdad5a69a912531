# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "support/servers"
require "larder/sessions/repository"
require "larder/sessions/statistics"
require "larder/sessions/backends/file"
require "larder/sessions/backends/store"

module Larder
  module Sessions
    # The order of events is forced: each test does what two requests do, step by step. All on both backends.
    module KeeperTests
      include TemporaryCaches

      # A session's key.
      K = "k" * 32

      def setup
        super
        @now = 1_900_000_000
        @reports = []
        @repository = repository
      end

      def test_what_is_begun_is_found_with_its_values
        assert @repository.begin(K, { "user_id" => 1 })
        assert_equal({ "user_id" => 1 }, @repository.find(K).values)
        assert_nil @repository.find("o" * 32)
      end

      def test_the_end_of_a_session_whose_time_is_over_answers_that_there_was_none
        @repository = repository(lifetimes: Lifetimes.new(idle: 600))
        @repository.lifetimes.define_singleton_method(:left) { |*given| super(*given) + 600 } # as by a slower clock
        @repository.begin(K, { "user_id" => 1 })
        @now += 1000
        assert_nil @repository.find("o" * 32)
        assert_equal false, @repository.end(K)
        assert_nil @backend.read("s/#{K}")
      end

      def test_a_key_is_begun_once
        assert @repository.begin(K, { "a" => 1 })
        assert_not @repository.begin(K, { "a" => 2 })
        assert_equal({ "a" => 1 }, values)
      end

      def test_who_signs_in_just_after_somebody_else_in_the_same_session_keeps_it
        @repository.begin(K, { "user_id" => 1 })
        found = @repository.find(K)
        commits = [-> { @repository.commit(@repository.find(K), { "user_id" => 1 }) }]
        second = nil
        @repository.index.define_singleton_method(:counting) do |*all, &store|
          super(*all, &store).tap { second ||= commits.pop&.call }
        end
        assert @repository.commit(found, { "user_id" => 2 })
        assert_equal true, second
        assert_equal({ "user_id" => 1 }, values)
      end

      def test_who_signs_in_again_while_a_sign_out_is_noted_is_found_by_a_logout
        @repository.begin(K, { "user_id" => 1 })
        found = @repository.find(K)
        commits = [-> { @repository.commit(@repository.find(K), { "user_id" => 1 }) }]
        again = nil
        @repository.index.users.define_singleton_method(:remove) do |*all, **options|
          again ||= commits.pop&.call
          super(*all, **options)
        end
        assert @repository.commit(found, {})
        assert_equal true, again
        assert_equal 1, Statistics.new(@repository).logout(1)
        assert_nil @repository.find(K)
      end

      def test_of_two_who_sign_in_at_once_a_logout_finds_both
        @repository = repository(per_user: 2)
        @repository.begin("a" * 32, { "user_id" => 1 })
        first = Fiber.new { @repository.begin(K, { "user_id" => 1 }) }
        @backend.define_singleton_method(:add) do |name, *all, **options|
          Fiber.yield if name == "s/#{K}"
          super(name, *all, **options)
        end
        first.resume # it is in the index, and not yet stored
        waiting = [first]
        @repository.define_singleton_method(:record) { |key| super(key).tap { waiting.pop&.resume if key == K } }
        assert @repository.begin("c" * 32, { "user_id" => 1 })
        assert_equal 2, Statistics.new(@repository).logout(1)
        ["a" * 32, K, "c" * 32].each { |key| assert_nil @repository.find(key) }
      end

      def test_an_unchanged_session_is_not_written
        @repository.begin(K, { "cart" => { "pear" => 1 } })
        found = @repository.find(K)
        assert @repository.commit(found, found.values)
        assert_equal found.bytes, @repository.find(K).bytes
      end

      def test_a_change_within_a_value_is_written
        @repository.begin(K, { "cart" => { "pear" => 1 } })
        found = @repository.find(K)
        found.values["cart"]["pear"] = 2
        assert @repository.commit(found, found.values)
        assert_equal({ "cart" => { "pear" => 2 } }, values)
      end

      def test_a_use_is_written_once_in_a_minute
        @repository.begin(K, { "a" => 1 })
        used = [0, 59, 1, 30, 30].map do |later|
          @now += later
          found = @repository.find(K)
          assert @repository.commit(found, found.values)
          @repository.find(K).record.used - 1_900_000_000
        end
        assert_equal [0, 0, 60, 60, 120], used
      end

      def test_two_requests_that_change_different_keys_keep_both
        @repository.begin(K, { "a" => 1, "b" => 1, "c" => 1 })
        one, two = Array.new(2) { @repository.find(K) }
        assert @repository.commit(one, one.values.merge("a" => 2).except("c"))
        assert @repository.commit(two, two.values.merge("b" => 2, "d" => 4))
        assert_equal({ "a" => 2, "b" => 2, "d" => 4 }, values)
      end

      def test_a_read_only_request_does_not_bring_old_values_back
        @repository.begin(K, { "a" => 1 })
        slow, quick = Array.new(2) { @repository.find(K) }
        @now += 3600
        assert @repository.commit(quick, { "a" => 2 })
        assert @repository.commit(slow, slow.values)
        assert_equal({ "a" => 2 }, values)
      end

      def test_an_ended_session_is_not_brought_back_by_a_slower_request
        @repository.begin(K, { "user_id" => 1 })
        changing, using = Array.new(2) { @repository.find(K) }
        @repository.end(K)
        @now += 3600
        assert_not @repository.commit(changing, changing.values.merge("a" => 1))
        assert_not @repository.commit(using, using.values)
        assert_nil @repository.find(K)
      end

      def test_the_csrf_token_of_the_first_writer_stays
        @repository.begin(K, { "a" => 1 })
        one, two = Array.new(2) { @repository.find(K) }
        @repository.commit(one, one.values.merge("_csrf_token" => "first"))
        @repository.commit(two, two.values.merge("_csrf_token" => "second", "b" => 2))
        assert_equal({ "a" => 1, "_csrf_token" => "first", "b" => 2 }, values)
      end

      def test_many_at_once_lose_nothing
        @repository.begin(K, {})
        threads = Array.new(8) do |number|
          Thread.new do
            10.times do |i|
              found = @repository.find(K)
              Thread.pass
              flunk "not kept" unless @repository.commit(found, found.values.merge("#{number}/#{i}" => i))
            end
          end
        end
        threads.each(&:join)
        assert_equal 80, values.size
      end

      def test_a_session_ends_when_it_is_idle_and_not_before
        @repository = repository(lifetimes: Lifetimes.new(idle: 600))
        @repository.begin(K, { "a" => 1 })
        5.times do
          @now += 590
          found = @repository.find(K)
          assert found
          @repository.commit(found, found.values)
        end
        @now += 600 + Lifetimes::USED_EVERY
        assert_nil @repository.find(K)
        @now -= 600
        assert_nil @repository.find(K), "ended once, it stays so"
      end

      def test_a_session_ends_after_its_longest_life_however_much_it_is_used
        @repository = repository(lifetimes: Lifetimes.new(max: 1000))
        @repository.begin(K, { "a" => 1 })
        @now += 999
        found = @repository.find(K)
        assert @repository.commit(found, { "a" => 2 })
        @now += 1
        assert_nil @repository.find(K)
      end

      def test_a_value_that_cannot_be_kept_is_left_out_and_all_others_are_written
        @repository.begin(K, { "at" => Object.new, "a" => 1 })
        assert_equal({ "a" => 1 }, values)
        assert @repository.commit(@repository.find(K), { "a" => 2, "b" => { "c" => -> {}, "d" => 3 } })
        assert_equal({ "a" => 2, "b" => { "d" => 3 } }, values)
      end

      def test_what_is_converted_is_what_the_next_request_reads_and_is_no_change_then
        @repository.begin(K, { "a" => :b, "at" => Time.at(0).utc })
        assert_equal({ "a" => "b", "at" => "1970-01-01T00:00:00.000Z" }, values)
        found = @repository.find(K)
        @repository.commit(@repository.find(K), values.merge("a" => "other"))
        assert @repository.commit(found, { "a" => :b, "at" => Time.at(0).utc })
        assert_equal "other", values["a"]
      end

      def test_what_marshal_wrote_is_converted_when_it_is_read_and_what_cannot_be_is_left_out_and_reported
        old = { "a" => :b, "at" => Time.at(0).utc, "it" => Object.new }
        Repository.new(backend: @backend, format: Format::Marshalled, clock: -> { @now }).begin(K, old)
        hybrid = Repository.new(backend: @backend, format: Format::Hybrid, clock: -> { @now },
                                report: @reports.method(:<<))
        found = hybrid.find(K)
        assert_equal({ "a" => "b", "at" => "1970-01-01T00:00:00.000Z" }, found.values)
        assert_match(/\Asession\["it"\] is a Object/, @reports.map(&:message).join)
        assert hybrid.commit(found, found.values.merge("c" => 1))
        assert_equal({ "a" => "b", "at" => "1970-01-01T00:00:00.000Z", "c" => 1 }, values)
      end

      def test_bytes_that_cannot_be_read_are_no_session_and_reported
        record = Record.of(began: @now, used: @now, values: "no JSON")
        { "1" * 32 => record.to_bytes, "2" * 32 => "other bytes" }.each do |key, bytes|
          @backend.add("s/#{key}", bytes, 60)
          assert_nil @repository.find(key)
        end
        assert_equal [UnreadableError] * 2, @reports.map(&:class)
      end

      private

      def values
        @repository.find(K).values
      end

      def repository(**options)
        Repository.new(backend: @backend, format: Format::Json, report: @reports.method(:<<), clock: -> { @now },
                       **options)
      end
    end

    class KeeperOnAFileTest < ActiveSupport::TestCase
      include KeeperTests

      test "a process that dies before the oldest session has given way leaves it to be found by a logout" do
        skip "needs fork" unless Process.respond_to?(:fork)
        @repository = repository(per_user: 1)
        @repository.begin("a" * 32, { "user_id" => 1 })
        Process.wait(fork do
          @repository.define_singleton_method(:end) { |_key| Process.kill(:KILL, Process.pid) }
          @repository.begin(K, { "user_id" => 1 })
          exit!
        end)
        assert @repository.find("a" * 32)
        assert_equal 1, Statistics.new(@repository).logout(1)
        assert_nil @repository.find("a" * 32)
      end

      def setup
        @backend = Backends::File.new(open_cache)
        super
      end

      test "a store that is refused keeps what was there" do
        @repository.begin(K, { "a" => 1 })
        found = @repository.find(K)
        too_long = "x" * (open_cache.max_value + 1)
        assert_match(/longer than the \d+/, assert_raises(TooLongError) do
          @repository.commit(found, { "a" => too_long })
        end.message)
        assert_equal({ "a" => 1 }, values)
      end
    end

    # name => what lookup_store takes, of a test
    {
      "MemoryStore" => ->(_) { [:memory_store] },
      "LarderStore" => ->(test) { [:larder_store, test.path_of, { size: 2 << 20 }] },
      "RedisStore" => ->(test) { [:redis_cache_store, { url: test.endpoint("redis")["url"] }] },
      "MemCacheStore" => ->(test) { [:mem_cache_store, test.endpoint("memcached")["url"], { protocol: :meta }] }
    }.each do |name, open|
      const_set(:"KeeperOn#{name}Test", Class.new(ActiveSupport::TestCase) do
        include KeeperTests

        define_method(:setup) do
          @store = ActiveSupport::Cache.lookup_store(*open.call(self))
          @store.clear
          @backend = Backends::Store.new(@store)
          super()
        end

        test "what a store remembers of a request is not taken for the session" do
          next unless @store.respond_to?(:with_local_cache)

          key = KeeperTests::K
          @repository.begin(key, { "a" => 1 })
          @store.with_local_cache do
            found, late = Array.new(2) { @repository.find(key) }
            Thread.new { @repository.commit(@repository.find(key), { "a" => 1, "b" => 1 }) }.join
            assert @repository.commit(found, { "a" => 2 })
            assert_equal({ "a" => 2, "b" => 1 }, values)
            Thread.new { @repository.end(key) }.join
            refute @repository.commit(late, { "a" => 3 })
          end
          assert_nil @repository.find(key)
        end

        public :path_of

        def endpoint(name)
          TestServers.endpoint(name) || skip("#{name} is not installed")
        end
      end)
    end
  end
end
