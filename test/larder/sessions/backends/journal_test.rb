# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "larder/sessions"
require "larder/sessions/backends/backed"
require "larder/sessions/backends/store_builder"
require "support/moved_clock"

module Larder
  module Sessions
    module Backends
      # The list of what the store behind a file has not got, when it is damaged, lost, long, or of another store.
      class JournalTest < ActiveSupport::TestCase
        include TemporaryCaches

        A = "a" * 32
        B = "b" * 32
        C = "c" * 32

        # A store that can be made to fail, to refuse what is long, and to be slow.
        class Failing < ActiveSupport::Cache::MemoryStore
          attr_accessor :fails, :most, :slow
          attr_reader :writes

          %i[read_entry delete_entry].each do |name|
            define_method(name) do |*arguments, **options|
              raise IOError, "gone" if fails

              super(*arguments, **options)
            end
          end

          def write_entry(name, entry, **options)
            raise IOError, "gone" if fails || (most && entry.value.bytesize > most)

            MovedClock.forward(slow) if slow
            @writes = @writes.to_i + 1
            super
          end
        end

        setup do
          @reports = []
          @store = Failing.new
          open_again
        end

        test "without a journal the file goes on, the process remembers what has ended, and nothing is restored" do
          Dir.mkdir(journal)
          [A, B].each { |key| assert @repository.begin(key, { "user_id" => 1 }) }
          assert @repository.end(A)
          assert_equal [nil, { "user_id" => 1 }], [A, B].map { |key| @repository.find(key)&.values }
          assert_equal [UnavailableError], @reports.map(&:class).uniq
          assert_match(/journal/, @reports.first.message)
          assert_raises(UnavailableError) { @repository.find(C) }
          Dir.rmdir(journal)
          catch_up
          cache.clear
          assert_nil @repository.find(A)
          assert @repository.find(B)
        end

        test "changes that a store has not got are applied to the one that replaces it, and no session comes back" do
          @repository.begin(A, { "user_id" => 1 })
          former = @store
          without_store do
            @repository.begin(B, { "user_id" => 2 })
            @repository.end(A)
          end
          @store = Failing.new
          open_again
          catch_up
          assert_equal [false, true], [copy?(A), copy?(B)]
          @store = former
          open_again
          assert copy?(A)
          assert_nil @repository.find(A)
        end

        test "after a loss of the journal all that is known to have ended is deleted, and nothing else" do
          [A, B].each { |key| @repository.begin(key, { "user_id" => 1 }) }
          @store.write("another", "entry")
          without_store { @repository.end(A) }
          Larder::Cache.open(journal, create: false, &:clear)
          open_again
          later
          assert_raises(UnavailableError) { @repository.find(C) } # it waits for writes that arrive late
          assert_equal [false, true, "entry"], [copy?(A), copy?(B), @store.read("another")]
          MovedClock.forward(6)
          assert_nil @repository.find(C)
          cache.clear
          assert_equal [nil, { "user_id" => 1 }], [A, B].map { |key| @repository.find(key)&.values }
        end

        test "a copy that the store refuses keeps no other from it, and no older one of it is left" do
          [A, B, C].each { |key| @repository.begin(key, { "user_id" => 1 }) }
          @store.most = 1000
          assert @repository.commit(@repository.find(A), { "user_id" => 1, "long" => "x" * 1000 })
          without_store do
            assert @repository.commit(@repository.find(B), { "user_id" => 2 })
            @repository.end(C)
          end
          catch_up
          assert_equal [false, true, false], [A, B, C].map { |key| copy?(key) }
          cache.clear
          assert_equal({ "user_id" => 2 }, @repository.find(B).values)
        end

        test "a listed change keeps no other session from being restored" do
          [A, B].each { |key| @repository.begin(key, { "user_id" => 1 }) }
          without_store { @repository.commit(@repository.find(A), { "user_id" => 2 }) }
          cache.delete("s/#{B}")
          assert @repository.find(B)
          refute_predicate outbox, :empty?
        end

        test "a copy whose time is over is not found" do
          { A => -1, B => 60 }.each do |key, seconds|
            entry = ActiveSupport::Cache::Entry.new("bytes", expires_at: Time.now.to_f + seconds)
            @store.write_entry(Store.name_of("s/#{key}"), entry)
          end
          assert_equal({ "s/#{B}" => "bytes" }, @repository.backend.copies(["s/#{A}", "s/#{B}"]))
        end

        test "a request makes few of the listed copies when the store is slow" do
          keys = Array.new(9) { |i| i.to_s * 32 }
          keys.each { |key| @repository.begin(key, { "cart" => 1 }) }
          without_store { keys.each { |key| @repository.commit(@repository.find(key), { "cart" => 2 }) } }
          @store.slow = 1
          most = keys.count do
            before = @store.writes
            later
            @repository.backend.tell
            assert_operator @store.writes - before, :<=, 2
            @store.writes > before
          end
          assert_operator most, :>, 4
        end

        test "an entry that comes back with a user's next session is copied again, though its end was listed" do
          @repository.begin(A, { "user_id" => 1 })
          without_store do
            @repository.end(A)
            @repository.backend.delete("u/User/1")
            @repository.begin(B, { "user_id" => 1 })
          end
          2.times do
            later
            MovedClock.forward(6)
            @repository.backend.tell
          end
          cache.clear
          assert @repository.find(B)
          assert Statistics.new(@repository).logged_in?(1)
        end

        private

        def open_again
          backend = Backed.new(cache, StoreBuilder.adapter(:backed_by, @store), report: @reports.method(:<<),
                                                                               retry_every: 0)
          @repository = Repository.new(backend: backend, format: Format::Json, lifetimes: Lifetimes.new(idle: 3600))
        end

        def without_store
          @store.fails = true
          yield
        ensure
          @store.fails = false
        end

        def catch_up
          assert(10.times.any? do
            later
            @repository.backend.tell
            outbox.empty?
          end)
        end

        # So much that the store is asked again.
        def later
          MovedClock.forward(3)
        end

        def journal
          "#{cache.path}.journal"
        end

        def outbox
          @repository.backend.instance_variable_get(:@outbox)
        end

        def copy?(key)
          @store.exist?(Store.name_of("s/#{key}"))
        end
      end
    end
  end
end
