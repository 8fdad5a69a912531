# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "support/servers"
require "larder/sessions"
require "larder/sessions/backends/backed"
require "larder/sessions/backends/store_builder"

module Larder
  module Sessions
    module Backends
      # Two machines, each with a file and a process of its own, before one store. On files and on a real Redis.
      module MachinesTests
        include TemporaryCaches

        A = "a" * 32
        B = "b" * 32
        C = "c" * 32

        # A machine: a file, and what is asked of its sessions. Knows what the other does by the store alone.
        class Machine
          attr_reader :repository, :statistics, :backend

          def initialize(cache, store, clock, **options)
            @backend = Backed.new(File.new(cache), store, retry_every: 0, **options)
            @repository = Repository.new(backend: backend, format: Format::Json, clock: clock,
                                         lifetimes: Lifetimes.new(idle: 86_400))
            @statistics = Statistics.new(repository)
          end

          def signed_in?(key)
            !!repository.find(key)&.record&.user?
          end
        end

        Session = Struct.new(:id)
        Id = Struct.new(:public_id)

        def setup
          super
          @now = 1_900_000_000
          @here = machine("here.larder")
          @there = machine("there.larder")
        end

        def test_a_session_ended_on_one_machine_ends_on_the_other
          sign_in(A)
          elsewhere { |machine| machine.repository.end(A) }
          refute @here.signed_in?(A)
          refute @there.signed_in?(A)
        end

        def test_a_slow_request_of_the_other_machine_does_not_bring_it_back
          sign_in(A)
          slow = @here.repository.find(A)
          elsewhere { |machine| machine.repository.end(A) }
          @here.repository.commit(slow, slow.values.merge("more" => 1))
          assert_equal [false, false], [@here, @there].map { |machine| machine.signed_in?(A) }
          assert_nil machine("third.larder").repository.find(A)
        end

        def test_a_session_that_goes_on_under_another_key_ends_under_its_own_everywhere
          sign_in(A)
          elsewhere { |machine| machine.repository.renew(machine.repository.find(A), B, { "user_id" => 1 }) }
          refute @here.signed_in?(A)
          assert @here.signed_in?(B)
        end

        def test_a_user_is_logged_out_on_all_machines
          sign_in(A)
          @now += 10
          elsewhere { |machine| machine.statistics.logout(1) }
          refute @here.signed_in?(A)
          refute machine("third.larder").signed_in?(A)
        end

        # The store has the list of a user's sessions that was written last, here that of the other machine.
        def test_after_a_loss_of_the_file_sessions_come_back_to_the_list_and_a_logout_ends_also_those_that_have_not
          @here.repository.begin(A, { "user_id" => 1 })
          @here.repository.begin(B, { "user_id" => 1 })
          elsewhere { |machine| machine.repository.begin(C, { "user_id" => 1 }) }
          @here = machine("lost.larder")
          assert @here.signed_in?(A)
          assert_includes @here.repository.index.users.keys("User/1"), A
          @now += 10
          @here.statistics.logout(1)
          assert_equal [false] * 3, [A, B, C].map { |key| @here.signed_in?(key) }
          assert_equal [false] * 3, [A, B, C].map { |key| @there.signed_in?(key) }
        end

        def test_of_other_users_none_is
          @here.repository.begin(B, { "user_id" => 2 })
          @here.repository.begin(C, { "cart" => 2 })
          @now += 10
          elsewhere { |machine| machine.statistics.logout(1) }
          assert @here.signed_in?(B)
          assert @here.repository.find(C)
        end

        def test_everybody_is_logged_out_on_all_machines
          sign_in(A)
          @now += 10
          elsewhere { |machine| machine.statistics.logout_all }
          refute @here.signed_in?(A)
        end

        def test_who_signs_in_on_another_machine_in_that_very_second_stays_so
          elsewhere { |machine| machine.statistics.logout(1) }
          sign_in(A)
          assert @here.signed_in?(A)
          @now += 1
          elsewhere { |machine| machine.statistics.logout_all }
          sign_in(B)
          assert_equal [false, true], [A, B].map { |key| @here.signed_in?(key) }
        end

        def test_who_signs_in_again_in_that_very_second_stays_so
          sign_in(A)
          @there.statistics.logout(1)
          assert @there.repository.begin(B, { "user_id" => 1 })
          assert_equal [true, true, false], [@there.signed_in?(B), @here.signed_in?(B), @here.signed_in?(A)]
          assert @there.repository.begin(C, { "cart" => 1 })
          assert @there.repository.commit(@there.repository.find(C), { "user_id" => 1 })
          assert_equal [true, true], [@there.signed_in?(C), @here.signed_in?(C)]
        end

        def test_a_session_that_a_logout_leaves_out_goes_on_everywhere_also_under_another_key
          here = Session.new(Id.new("the id of here"))
          key = Digest::SHA256.digest("the id of here")
          sign_in(key)
          @there.repository.begin(B, { "user_id" => 1 })
          @now += 10
          assert_equal 0, @here.statistics.logout(1, except: here), "B is the other machine's, and ends there"
          assert_equal [true, true], [@here.signed_in?(key), @there.signed_in?(key)]
          assert_equal [false, false], [@here.signed_in?(B), @there.signed_in?(B)]
          assert @there.repository.renew(@there.repository.find(key), C, { "user_id" => 1 })
          assert_equal [true, true], [@there.signed_in?(C), @here.signed_in?(C)]
          assert_equal [false, false], [@there.signed_in?(key), @here.signed_in?(key)]
        end

        def test_a_session_of_before_in_which_somebody_signs_in_after_a_logout_stays
          @here.repository.begin(A, { "cart" => 1 })
          @now += 10
          @there.statistics.logout(1)
          @now += 10
          assert @here.repository.commit(@here.repository.find(A), { "user_id" => 1 })
          assert @here.signed_in?(A)
        end

        def test_the_store_is_asked_once_in_the_time_that_is_given
          @here = machine("seldom.larder", check_ends_every: 3600)
          sign_in(A)
          assert @here.signed_in?(A)
          @there.repository.end(A)
          assert @here.signed_in?(A), "asked before"
          @here.backend.cache.delete("c/s/#{A}") # an hour later
          refute @here.signed_in?(A)
        end

        def test_where_nothing_is_asked_for_nothing_is_looked_for
          @here = machine("never.larder", check_ends_every: nil)
          sign_in(A)
          @there.repository.end(A)
          assert @here.signed_in?(A)
          assert_nil machine("third.larder", check_ends_every: nil).repository.find(A), "none comes back all the same"
        end

        private

        def machine(name, check_ends_every: 0)
          Machine.new(open_cache(name, size: 1 << 20), store, -> { @now }, check_ends_every: check_ends_every)
        end

        # Here, and seen there as well.
        def sign_in(key)
          assert @here.repository.begin(key, { "user_id" => 1 })
          assert @there.signed_in?(key)
        end

        # In another process, as on another machine.
        def elsewhere
          child = fork do
            yield machine("elsewhere.larder")
            exit!(0)
          ensure
            exit!(1)
          end
          assert_predicate Process.wait2(child).last, :success?
        end
      end

      class MachinesOnFilesTest < ActiveSupport::TestCase
        include MachinesTests

        def store
          StoreBuilder.build(:backed_by, [:file_store, path_of("store")], behind: true)
        end
      end

      class MachinesOnRedisTest < ActiveSupport::TestCase
        include MachinesTests

        def setup
          TestServers.endpoint("redis") || skip("redis is not installed")
          store.clear
          super
        end

        def store
          StoreBuilder.build(:backed_by, [:redis_cache_store, { url: TestServers.endpoint("redis")["url"] }],
                             behind: true)
        end
      end
    end
  end
end
