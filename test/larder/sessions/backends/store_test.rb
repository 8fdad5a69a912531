# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "active_support/testing/time_helpers"
require "larder/sessions"
require "larder/sessions/backends/store_builder"
require "larder/sessions/backends/store"

module Larder
  module Sessions
    module Backends
      # What a store does that keeps entries of a dead process, and entries that have expired, until they are read.
      class StoreTest < ActiveSupport::TestCase
        include TemporaryCaches
        include Processes
        include ActiveSupport::Testing::TimeHelpers

        KEY = "s/#{"k" * 32}".freeze

        setup { @backend = Store.new(StoreBuilder.build(:cache, [:file_store, path_of("files")])) }

        test "the lock of a process that was killed is freed after its time" do
          @backend.add(KEY, "1", 60)
          child = fork { @backend.send(:locked, Store.name_of(KEY)) { Process.kill(:KILL, Process.pid) } }
          refute_predicate wait_for(child), :success?
          assert_equal 1, locks.size
          travel(10) { assert_equal :stored, @backend.swap(KEY, "1", "2", 60) }
          assert_empty locks
        end

        test "a request waits for locks that are held for a second in all, and changes nothing without a lock" do
          keys = %w[a b c].map { |name| "s/#{name * 32}" }
          keys.each { |key| @backend.add(key, "1", 60) }
          owners = keys.first(2).map do |key|
            Thread.new { @backend.send(:locked, Store.name_of(key)) { Thread.stop } }
          end
          assert(eventually { owners.all?(&:stop?) && locks.size == 2 })
          env = {}
          asked = 0
          store = StoreBuilder.build(:cache, [:file_store, path_of("files")])
          store.define_singleton_method(:write_entry) { |*all, **options| (asked += 1) && super(*all, **options) }
          backend = Store.new(store, Calls.new("FileStore", request: -> { env }))
          error = assert_raises(UnavailableError) { backend.swap(keys[0], "1", "2", 60) }
          assert_match(/another request/, error.message)
          before = asked
          keys.drop(1).each { |key| assert_raises(UnavailableError) { backend.swap(key, "1", "2", 60) } }
          assert_equal before, asked
          env = {}
          assert_equal :stored, backend.swap(keys[2], "1", "2", 60)
          assert_equal %w[1 1 2], (keys.map { |key| backend.read(key) })
        ensure
          owners&.each(&:kill)&.each(&:join)
        end

        test "a change that has had its lock for too long is not written" do
          @backend.add(KEY, "1", 60)
          other = Store.new(StoreBuilder.build(:cache, [:file_store, path_of("files")]))
          later = 0
          @backend.define_singleton_method(:monotonic_now) { super() + later }
          test = self
          @backend.instance_variable_get(:@store).define_singleton_method(:exist?) do |name|
            super(name).tap do
              singleton_class.remove_method(:exist?)
              later = 10
              ::File.delete(*test.locks) # which has expired
              test.assert_equal :stored, other.swap(KEY, "1", "2", 60)
            end
          end
          assert_equal :changed, @backend.swap(KEY, "1", "3", 60)
          assert_equal "2", @backend.read(KEY)
        end

        test "a key whose entry has expired is free" do
          @backend.add(KEY, "1", 60)
          assert_equal :changed, @backend.add(KEY, "2", 60)
          travel(100) do
            assert_equal :stored, @backend.add(KEY, "2", 60)
            assert_equal "2", @backend.read(KEY)
          end
        end

        def locks
          Dir.glob(path_of("files/**/*lock"))
        end
      end
    end
  end
end
