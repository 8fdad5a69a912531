# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "larder/sessions"
require "larder/sessions/backends/backed"
require "larder/sessions/backends/store_builder"
require "larder/sessions/backends/store"
require "support/servers"

module Larder
  module Sessions
    # A session goes on under another key while others change it, end it or move it as well. Where the order of events
    # matters, each is tried.
    module RenewalTests
      include TemporaryCaches

      OLD = "o" * 32
      NEW = "n" * 32
      THIRD = "t" * 32

      # Has each call of the backend that the block makes told of before it is made, by number.
      class Interrupted < SimpleDelegator
        attr_accessor :before_call

        %i[read read_surely add swap delete].each do |name|
          define_method(name) do |*all, **options|
            before_call&.call
            __getobj__.public_send(name, *all, **options)
          end
        end
      end

      def setup
        super
        @now = 1_900_000_000
        begin_anew
      end

      def test_it_goes_on_with_its_values_its_user_and_its_age
        @repository.begin(OLD, { "cart" => 1 }, bound: ["User/7"])
        @now += 100
        assert renew({ "cart" => 2 })
        assert_nil @repository.find(OLD)
        found = @repository.find(NEW)
        assert_equal [{ "cart" => 2 }, ["User/7"], ["User/7"], @now - 100, @now],
                     [found.values, *%i[users bound began used].map { |name| found.record.public_send(name) }]
        assert_equal 1, @statistics.for(7).size
      end

      def test_it_goes_on_after_a_logout_of_everybody_in_the_second_in_which_it_began
        @statistics.logout_all if @repository.backend.respond_to?(:cache)
        @repository.begin(OLD, { "user_id" => 7 })
        @now += 2
        assert renew({ "user_id" => 7, "cart" => 1 })
        assert_equal({ "user_id" => 7, "cart" => 1 }, @repository.find(NEW).values)
      end

      def test_it_goes_on_where_the_clock_was_set_back_after_a_logout_of_everybody
        @statistics.logout_all if @repository.backend.respond_to?(:cache)
        @now -= 3600
        @repository.begin(OLD, { "user_id" => 7 })
        @now += 2
        assert renew({ "user_id" => 7, "cart" => 1 })
        assert_equal({ "user_id" => 7, "cart" => 1 }, @repository.find(NEW).values)
      end

      def test_it_ends_after_its_longest_life_however_often_it_is_renewed
        begin_anew(lifetimes: Lifetimes.new(max: 1000))
        @repository.begin(OLD, { "user_id" => 7 })
        @now += 999
        assert renew({ "user_id" => 7 })
        @now += 1
        assert_nil @repository.find(NEW)
      end

      def test_who_signs_in_has_a_session_that_begins
        @repository.begin(OLD, { "cart" => 1 })
        @now += 100
        assert renew({ "cart" => 1, "user_id" => 7 })
        assert_equal @now, @repository.find(NEW).record.began
      end

      def test_who_signs_in_beside_somebody_has_a_session_that_is_as_old_as_before
        @repository.begin(OLD, { "user_id" => 7 })
        @now += 100
        assert renew({ "user_id" => 7, "warden.user.admin.key" => [[8], "salt"] })
        assert_equal [@now - 100, 1, 1], [@repository.find(NEW).record.began, *[7, "Admin/8"].map do |user|
          @statistics.for(user).size
        end]
      end

      def test_who_signs_in_beside_somebody_whose_session_has_ended_is_not_signed_in_with_them
        @repository.begin(OLD, { "user_id" => 7 })
        refute(renew({ "user_id" => 7, "warden.user.admin.key" => [[8], "salt"] }) { @statistics.logout(7) })
        assert_nil @repository.find(NEW)
      end

      def test_what_others_have_changed_meanwhile_is_kept
        @repository.begin(OLD, { "a" => 1, "b" => 1 })
        assert(renew({ "a" => 2, "b" => 1 }) { |found| @repository.commit(found, { "a" => 1, "b" => 2 }) })
        assert_equal({ "a" => 2, "b" => 2 }, @repository.find(NEW).values)
      end

      def test_who_has_signed_out_meanwhile_stays_so
        @repository.begin(OLD, { "user_id" => 7, "a" => 1 })
        assert(renew({ "user_id" => 7, "a" => 2 }) { |found| @repository.commit(found, { "a" => 1 }) })
        refute_predicate @repository.find(NEW).record, :user?
      end

      def test_who_is_no_longer_bound_meanwhile_stays_so
        @repository.begin(OLD, { "a" => 1 }, bound: ["User/8"])
        assert(renew({ "a" => 1 }) { |found| @repository.commit(found, found.values, bound: []) })
        refute_predicate @repository.find(NEW).record, :user?
      end

      def test_an_ended_session_does_not_go_on
        @repository.begin(OLD, { "user_id" => 7 })
        refute(renew({ "user_id" => 7, "a" => 1 }) { @repository.end(OLD) })
        assert_nil @repository.find(NEW)
      end

      def test_who_signs_in_twice_at_once_is_signed_in_by_each
        @repository.begin(OLD, { "cart" => 1 })
        other = @repository.find(OLD)
        assert renew({ "cart" => 1, "user_id" => 7 })
        assert @repository.renew(other, THIRD, { "cart" => 1, "user_id" => 7 })
        assert_equal 2, @statistics.for(7).size
      end

      def test_of_two_renewals_of_one_session_one_goes_on
        @repository.begin(OLD, { "user_id" => 7 })
        other = @repository.find(OLD)
        assert renew({ "user_id" => 7 })
        refute @repository.renew(other, THIRD, { "user_id" => 7 })
        assert_equal 1, @statistics.for(7).size
      end

      def test_whoever_ends_it_by_the_key_that_it_had_ends_it
        @repository.begin(OLD, { "cart" => 1 })
        assert renew({ "cart" => 1, "user_id" => 7 })
        assert @repository.end(OLD)
        refute @statistics.logged_in?(7)
        assert_nil @repository.find(NEW)
        refute @repository.end(OLD)
      end

      def test_whoever_ends_it_by_a_key_that_it_had_long_before_ends_it
        @repository.begin(OLD, { "user_id" => 7 })
        assert renew({ "user_id" => 7 })
        assert @repository.renew(@repository.find(NEW), THIRD, { "user_id" => 7 })
        assert @repository.end(OLD)
        assert_nil @repository.find(THIRD)
      end

      def test_all_that_go_on_from_one_session_end_by_the_key_that_it_had
        @repository.begin(OLD, { "cart" => 1 })
        other = @repository.find(OLD)
        assert renew({ "cart" => 1, "user_id" => 7 })
        assert @repository.renew(other, THIRD, { "cart" => 1, "user_id" => 7 })
        assert @repository.end(OLD)
        refute @statistics.logged_in?(7)
      end

      def test_the_key_that_it_had_opens_nothing
        @repository.begin(OLD, { "user_id" => 7 })
        other = @repository.find(OLD)
        assert renew({ "user_id" => 7 })
        assert_nil @repository.find(OLD)
        refute @repository.commit(other, { "user_id" => 7, "mine" => 1 })
        refute @repository.renew(other, THIRD, { "user_id" => 7, "mine" => 1 })
        assert_equal({ "user_id" => 7 }, @repository.find(NEW).values)
      end

      def test_a_request_that_signs_out_in_the_session_that_it_had_found_signs_out
        @repository.begin(OLD, { "user_id" => 7 })
        other = @repository.find(OLD)
        assert renew({ "user_id" => 7 })
        refute @repository.commit(other, {})
        refute @statistics.logged_in?(7)
      end

      def test_a_handle_that_was_shown_before_ends_it
        @repository.begin(OLD, { "user_id" => 7 })
        handle = @statistics.for(7).first.handle
        assert renew({ "user_id" => 7 })
        assert @repository.renew(@repository.find(NEW), THIRD, { "user_id" => 7 })
        assert @statistics.revoke(handle)
        refute @statistics.logged_in?(7)
        refute @statistics.revoke(handle)
      end

      def test_a_handle_that_was_shown_before_keeps_it
        @repository.begin(OLD, { "user_id" => 7 })
        handle = @statistics.for(7).first.handle
        assert renew({ "user_id" => 7 })
        assert_equal 0, @statistics.logout(7, except: handle)
        assert @statistics.logged_in?(7)
      end

      def test_a_handle_that_is_revoked_at_any_moment_of_a_renewal_ends_the_session
        revoked = nil
        at_any_call(of: -> { @renew.call }, comes: -> { revoked = @statistics.revoke(@handle) }) do |call|
          assert_equal [call.zero? ? nil : true, call.zero? ? [NEW, THIRD] : [THIRD]], [revoked, signed_in],
                       "before call #{call}"
        end
      end

      def test_a_renewal_that_comes_at_any_moment_of_a_revocation_does_not_save_the_session
        revoked = nil
        at_any_call(of: -> { revoked = @statistics.revoke(@handle) }, comes: -> { @renew.call }) do |call|
          assert_equal [true, [THIRD]], [revoked, signed_in], "before call #{call}"
        end
      end

      def test_it_takes_nobody_elses_place
        begin_anew(per_user: 2)
        @repository.begin(THIRD, { "user_id" => 7 })
        @repository.begin(OLD, { "user_id" => 7 })
        assert renew({ "user_id" => 7 })
        assert @repository.find(NEW)
        assert @repository.find(THIRD)
      end

      def test_a_value_that_cannot_be_kept_is_left_out_and_the_session_is_renewed
        @repository.begin(OLD, { "user_id" => 7 })
        assert renew({ "user_id" => 7, "at" => Object.new })
        assert_equal({ "user_id" => 7 }, @repository.find(NEW).values)
        assert_nil @repository.find(OLD)
      end

      def test_a_logout_that_comes_at_any_moment_of_a_renewal_leaves_nobody_signed_in
        at_any_call(of: -> { @renew.call }, comes: -> { @statistics.logout(7) }) do |call|
          assert_empty signed_in, "before call #{call}" unless call.zero?
        end
      end

      def test_a_renewal_that_comes_at_any_moment_of_a_logout_leaves_nobody_signed_in
        at_any_call(of: -> { @statistics.logout(7) }, comes: -> { @renew.call }) do |call|
          assert_empty signed_in, "before call #{call}" unless call.zero?
        end
      end

      def test_an_end_that_comes_at_any_moment_of_a_renewal_ends_it
        ended = nil
        at_any_call(of: -> { @renew.call }, comes: -> { ended = @repository.end(OLD) }) do |call|
          assert_equal [call.zero? ? nil : true, call.zero? ? [NEW, THIRD] : [THIRD]], [ended, signed_in],
                       "before call #{call}"
        end
      end

      def test_a_logout_that_leaves_the_session_out_at_any_moment_of_its_renewal_keeps_it_alone
        at_any_call(of: -> { @renewed = @renew.call }, comes: -> { @statistics.logout(7, except: @handle) }) do |call|
          assert_equal [true, call.zero? ? [NEW, THIRD] : [NEW]], [@renewed, signed_in], "before call #{call}"
        end
      end

      def test_a_renewal_at_any_moment_of_a_logout_that_leaves_the_session_out_keeps_it_alone
        at_any_call(of: -> { @statistics.logout(7, except: @handle) }, comes: -> { @renewed = @renew.call }) do |call|
          assert_equal [true, [NEW]], [@renewed, signed_in], "before call #{call}" unless call.zero?
        end
      end

      def test_a_request_that_signs_out_at_any_moment_of_a_renewal_signs_out
        at_any_call(of: -> { @renew.call }, comes: -> { @repository.commit(@slow, { "a" => 2 }) }) do |call|
          assert_equal call.zero? ? [NEW, THIRD] : [THIRD], signed_in, "before call #{call}"
        end
      end

      def test_a_renewal_at_any_moment_of_a_sign_out_does_not_save_the_session
        at_any_call(of: -> { @repository.commit(@slow, { "a" => 2 }) }, comes: -> { @renew.call }) do |call|
          assert_equal [THIRD], signed_in, "before call #{call}"
        end
      end

      def test_a_session_that_another_user_has_after_an_end_at_any_moment_takes_changes
        sign_in = -> { @renewed = @repository.renew(@slow, NEW, { "user_id" => 8 }) }
        at_any_call(of: sign_in, comes: -> { @repository.end(OLD) }) do |call|
          next unless (found = @repository.find(NEW))

          assert @renewed, "before call #{call}"
          assert @repository.commit(found, { "user_id" => 8, "a" => 1 }), "before call #{call}"
        end
      end

      private

      # Two sessions of a user, of which one is renewed: does the one thing as often as it makes calls, and at another
      # of these calls each time the other thing.
      def at_any_call(of:, comes:)
        calls = 0
        (0..).each do |interrupted|
          break if interrupted > calls

          begin_anew
          [OLD, THIRD].each { |key| @repository.begin(key, { "user_id" => 7 }) }
          found = @repository.find(OLD)
          @slow = @repository.find(OLD)
          @handle = @statistics.for(7).find { |info| info.handle == handle_of(OLD) }.handle
          @renew = -> { @repository.renew(found, NEW, { "user_id" => 7, "a" => 1 }) }
          calls = [calls, interrupt(interrupted, of, comes)].max
          yield interrupted
        end
        assert_operator calls, :>, 4
      end

      def interrupt(number, does, comes)
        calls = 0
        @backend.before_call = lambda do
          calls += 1
          next unless calls == number

          @backend.before_call = nil
          comes.call
        end
        does.call
        @backend.before_call = nil
        calls
      end

      def handle_of(key)
        @statistics.send(:handle, @repository.record(key), key, @statistics.send(:secret))
      end

      def signed_in
        [OLD, NEW, THIRD].select { |key| @repository.find(key)&.record&.user? }
      end

      def renew(values)
        found = @repository.find(OLD)
        yield @repository.find(OLD) if block_given?
        @repository.renew(found, NEW, values)
      end

      def begin_anew(**options)
        @backend = Interrupted.new(backend)
        @repository = Repository.new(backend: @backend, format: Format::Json, clock: -> { @now }, **options)
        @statistics = Statistics.new(@repository)
      end
    end

    class RenewalOnAFileTest < ActiveSupport::TestCase
      include RenewalTests

      def backend
        Backends::File.new(open_cache("#{@files = @files.to_i + 1}.larder", size: 1 << 20))
      end

      test "logging out everybody at any moment of a renewal leaves nobody signed in" do
        at_any_call(of: -> { @renew.call }, comes: -> { @statistics.logout_all }) do |call|
          assert_empty signed_in, "before call #{call}" unless call.zero?
        end
      end

      test "a logout of everybody that has looked at what is new, and not yet at what was, ends both" do
        @repository.begin(OLD, { "user_id" => 7 })
        found = @repository.find(OLD)
        repository = @repository
        renewed = nil
        repository.backend.define_singleton_method(:each_entry) do |prefix, &block|
          renewed = repository.renew(found, NEW, { "user_id" => 7 })
          block.call(prefix + OLD, read(prefix + OLD))
        end
        @statistics.logout_all
        refute renewed
        assert_empty signed_in
      end

      test "a renewal that another's change delays until the file is full leaves nothing under the other key" do
        refused = (1..12).count do |call|
          begin_anew
          @repository.begin(OLD, { "user_id" => 7 })
          found = @repository.find(OLD)
          other = @repository.find(OLD)
          renewed = nil
          interrupt(call, -> { renewed = renewed?(found) }, lambda do
            @repository.commit(other, { "user_id" => 7, "b" => "x" * 5000 })
            fill
          end)
          assert_equal [renewed ? NEW : OLD], signed_in, "the file is full before call #{call}"
          !renewed
        end
        assert_operator refused, :>, 1
      end

      test "a process that dies while it renews a session leaves one that is signed in and named" do
        skip "needs fork" unless Process.respond_to?(:fork)
        (1..20).each do |call|
          begin_anew
          @repository.begin(OLD, { "user_id" => 7 })
          Process.wait(fork do
            interrupt(call, -> { renew({ "user_id" => 7 }) }, -> { Process.kill(:KILL, Process.pid) })
            exit!
          end)
          refute_empty signed_in, "killed before call #{call}"
          @statistics.logout(7)
          assert_empty signed_in, "killed before call #{call}"
          assert_equal [false, false], [OLD, NEW].map { |key| @repository.end(key) }, "killed before call #{call}"
        end
      end

      private

      def renewed?(found)
        @repository.renew(found, NEW, { "user_id" => 7, "a" => 1 })
      rescue NoRoomError
        false
      end

      def fill
        [12_000, 1000, 100, 1].each do |bytes|
          (0..).each { |i| @backend.cache.set("filler/#{bytes}/#{i}", "x" * bytes, pin: true) }
        rescue FullError
          next
        end
      end
    end

    class RenewalOnABackedFileTest < ActiveSupport::TestCase
      include RenewalTests

      def backend
        cache = open_cache("#{@files = @files.to_i + 1}.larder", size: 1 << 20)
        Backends::Backed.new(cache, Backends::StoreBuilder.adapter(:backed_by, :memory_store))
      end
    end

    class RenewalOnAStoreTest < ActiveSupport::TestCase
      include RenewalTests

      def backend
        Backends::Store.new(ActiveSupport::Cache::MemoryStore.new)
      end
    end

    # Each call goes to Redis, so the calls of two requests are those of two machines.
    class RenewalOnASharedStoreTest < ActiveSupport::TestCase
      include RenewalTests

      def backend
        url = TestServers.endpoint("redis")&.fetch("url") || skip("redis is not installed")
        @shared ||= Configuration.new(cache: [:redis_cache_store, { url: url }], file: path_of("journal.larder"))
                                 .repository.backend
        ActiveSupport::Cache.lookup_store(:redis_cache_store, url: url).clear
        @shared
      end
    end
  end
end
