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
      # A file that is lost, and a store behind it that is not. On a store in memory and on a real Redis.
      module BackedTests
        include TemporaryCaches

        # Every call fails, as those of a client whose server is gone may.
        class Broken < ActiveSupport::Cache::MemoryStore
          %i[read_entry write_entry delete_entry].each { |name| define_method(name) { |*, **| raise IOError, "gone" } }
        end

        A = "a" * 32
        B = "b" * 32
        C = "c" * 32
        D = "d" * 32
        Session = Struct.new(:id)
        Id = Struct.new(:public_id)

        def setup
          super
          @now = 1_900_000_000
          begin_anew("first.larder")
        end

        def test_what_the_file_has_lost_comes_back_with_its_user
          @repository.begin(A, { "user_id" => 1, "cart" => 2 })
          @repository.begin(B, { "cart" => 3 })
          begin_anew("second.larder")
          assert_equal({ "user_id" => 1, "cart" => 2 }, @repository.find(A).values)
          assert_equal({ "cart" => 3 }, @repository.find(B).values)
          assert @statistics.logged_in?(1)
          assert_equal 2, @statistics.active(last: 300)
          assert @backend.cache.exist?("s/#{A}"), "it is in the file again"
        end

        def test_each_change_and_each_use_is_there_as_well
          @repository.begin(A, { "user_id" => 1 })
          found = @repository.find(A)
          @repository.commit(found, found.values.merge("more" => 2))
          @now += 100
          found = @repository.find(A)
          @repository.commit(found, found.values)
          begin_anew("second.larder")
          found = @repository.find(A)
          assert_equal [{ "user_id" => 1, "more" => 2 }, @now], [found.values, found.record.used]
        end

        def test_an_unchanged_session_does_not_ask_the_store
          @repository.begin(A, { "user_id" => 1 })
          %i[read_entry write_entry].each { |name| behind.define_singleton_method(name) { |*, **| raise name.to_s } }
          found = @repository.find(A)
          assert @repository.commit(found, found.values)
        end

        def test_a_user_is_logged_out_everywhere_though_the_file_was_lost
          @repository.begin(A, { "user_id" => 1 })
          @repository.begin(B, { "user_id" => 1 })
          begin_anew("second.larder")
          assert_equal 2, @statistics.logout(1)
          assert_nil @repository.find(A)
          begin_anew("third.larder")
          assert_equal [nil, nil, false], [@repository.find(A), @repository.find(B), @statistics.logged_in?(1)]
        end

        def test_everybody_is_logged_out_though_the_file_was_lost
          @repository.begin(A, { "user_id" => 1 })
          @repository.begin(B, { "cart" => 1 })
          begin_anew("second.larder")
          @statistics.logout_all
          assert_nil @repository.find(A)
          begin_anew("third.larder")
          assert_nil @repository.find(A)
          assert @repository.find(B)
          @now += 1
          assert @repository.begin("c" * 32, { "user_id" => 1 })
          begin_anew("fourth.larder")
          assert @repository.find("c" * 32)
        end

        def test_a_session_that_a_logout_leaves_out_goes_on_after_losses_of_the_file_also_under_another_key
          key = Digest::SHA256.digest("the id")
          [key, B].each { |each| @repository.begin(each, { "user_id" => 1 }) }
          copy = @store.read(Store.name_of("s/#{B}"), raw: true)
          @now += 10
          assert_equal 1, @statistics.logout(1, except: Session.new(Id.new("the id")))
          begin_anew("second.larder")
          assert @repository.find(key)
          assert @repository.renew(@repository.find(key), C, { "user_id" => 1 })
          @store.write(Store.name_of("s/#{D}"), copy, raw: true) # a session that only the store has
          begin_anew("third.larder")
          assert_equal [false, false, true, false], [key, B, C, D].map { |each| !!@repository.find(each) }
        end

        def test_who_signs_in_again_in_the_second_of_a_logout_stays_so_after_a_loss
          @repository.begin(A, { "user_id" => 1 })
          @repository.begin(B, { "cart" => 1 })
          @statistics.logout(1)
          assert @repository.begin(C, { "user_id" => 1 })
          assert @repository.commit(@repository.find(B), { "user_id" => 1 })
          begin_anew("second.larder")
          assert_equal [false, true, true], [A, B, C].map { |each| !!@repository.find(each) }
        end

        def test_an_id_from_before_a_renewal_ends_the_session_also_after_a_loss_of_the_file
          [["second", -> { @repository.end(A) }], ["third", -> { @statistics.revoke(@handle) }]].each do |file, ending|
            @repository.begin(A, { "user_id" => 1 })
            @handle = @statistics.for(1).first.handle
            assert @repository.renew(@repository.find(A), B, { "user_id" => 1 })
            assert @repository.renew(@repository.find(B), C, { "user_id" => 1 })
            begin_anew("#{file}.larder")
            ending.call
            begin_anew("after_#{file}.larder")
            assert_equal [nil, nil, nil], [A, B, C].map { |key| @repository.find(key) }
            begin_with_an_empty_store
          end
        end

        # As of a process that was killed before it saw the end, or a connection that was slow.
        def test_a_copy_that_is_written_after_the_end_is_not_read
          @repository.begin(A, { "user_id" => 1 })
          copy = @store.read(name = Store.name_of("s/#{A}"), raw: true)
          @repository.end(A)
          @store.write(name, copy, raw: true)
          begin_anew("second.larder")
          assert_nil @repository.find(A)
        end

        def test_what_was_ended_does_not_come_back_from_a_store_that_was_not_reached
          @repository.begin(A, { "user_id" => 1 })
          behind.define_singleton_method(:delete_entry) { |*, **| raise IOError }
          @repository.end(A)
          assert_nil @repository.find(A)
        end

        def test_what_was_ended_is_marked_for_as_long_as_there_may_be_a_copy
          marked = lambda do |life|
            key = "s/#{SecureRandom.hex(16)}"
            @backend.add(key, "bytes", life)
            @backend.delete(key)
            @backend.cache.ttl("x/#{key}")
          end
          assert_operator marked.call(30 * 86_400), :<=, 7 * 86_400
          assert_operator marked.call(60), :<=, 3660
          behind.define_singleton_method(:delete_entry) { |*, **| raise IOError }
          assert_operator marked.call(30 * 86_400), :>, 30 * 86_400
          assert_equal Float::INFINITY, marked.call(nil)
        end

        def test_ending_what_is_not_there_takes_no_room_from_those_who_are_signed_in
          @repository.end(A) # after which the file has its own id
          before = @backend.cache.stats[:pinned_bytes]
          100.times { |i| @repository.end([i].pack("N") * 8) }
          assert_equal before, @backend.cache.stats[:pinned_bytes]
        end

        def test_what_is_ended_while_it_is_reloaded_stays_so
          @repository.begin(A, { "user_id" => 1 })
          begin_anew("second.larder")
          repository = @repository
          @backend.define_singleton_method(:reload) do |key|
            super(key).tap { repository.end(A) if key == "s/#{A}" }
          end
          assert_nil @repository.find(A)
          assert_nil @backend.read("s/#{A}")
        end

        # The slower of two writers would leave the older session in the store.
        def test_the_copy_is_the_newest_however_slow_a_writer_is
          @repository.begin(A, { "count" => 0 })
          slow = @repository.find(A)
          repository = @repository
          overtaken = false
          behind.define_singleton_method(:write_entry) do |name, *rest, **options|
            unless overtaken
              overtaken = true
              quick = repository.find(A)
              repository.commit(quick, quick.values.merge("quick" => 1))
            end
            super(name, *rest, **options)
          end
          assert @repository.commit(slow, slow.values.merge("slow" => 1))
          begin_anew("second.larder")
          assert_equal({ "count" => 0, "quick" => 1, "slow" => 1 }, @repository.find(A).values)
        end

        def test_a_session_ended_while_it_is_written_leaves_no_copy
          @repository.begin(A, { "count" => 0 })
          found = @repository.find(A)
          repository = @repository
          ended = false
          behind.define_singleton_method(:write_entry) do |name, *rest, **options|
            unless ended
              ended = true
              repository.end(A)
            end
            super(name, *rest, **options)
          end
          @repository.commit(found, { "count" => 1 })
          begin_anew("second.larder")
          assert_nil @repository.find(A)
        end

        def test_a_store_that_fails_is_reported_and_the_file_goes_on
          reports = []
          backed = Backed.new(open_cache("other.larder"), StoreBuilder.adapter(:backed_by, Broken.new),
                              report: reports.method(:<<))
          repository = Repository.new(backend: backed, format: Format::Json)
          assert_raises(UnavailableError) { repository.find(A) }
          assert repository.begin(A, { "user_id" => 1 })
          assert repository.find(A)
          assert repository.end(A)
          assert_nil repository.find(A)
          assert_equal [UnavailableError], reports.map(&:class)
        end

        private

        # @return [ActiveSupport::Cache::Store] the store as the backend calls it
        def behind
          @backend.instance_variable_get(:@copies).store
        end

        def begin_with_an_empty_store
          @store.clear
          begin_anew("#{@files = @files.to_i + 1}.larder")
        end

        # The same store behind a new file, as after a loss of the machine's disk.
        def begin_anew(name)
          @backend = Backed.new(open_cache(name, size: 1 << 20), StoreBuilder.adapter(:backed_by, @store))
          @repository = Repository.new(backend: @backend, format: Format::Json, clock: -> { @now },
                               lifetimes: Lifetimes.new(idle: 3600))
          @statistics = Statistics.new(@repository)
        end
      end

      class BackedByMemoryTest < ActiveSupport::TestCase
        include BackedTests

        def setup
          @store = ActiveSupport::Cache::MemoryStore.new
          super
        end
      end

      class BackedByRedisTest < ActiveSupport::TestCase
        include BackedTests

        def setup
          endpoint = TestServers.endpoint("redis") || skip("redis is not installed")
          @store = ActiveSupport::Cache.lookup_store(:redis_cache_store, url: endpoint["url"])
          @store.clear
          super
        end
      end
    end
  end
end
