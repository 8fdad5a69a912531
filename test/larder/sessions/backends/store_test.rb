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

        test "a key whose entry has expired is free" do
          @backend.add(KEY, "1", 60)
          assert_equal :changed, @backend.add(KEY, "2", 60)
          travel(100) do
            assert_equal :stored, @backend.add(KEY, "2", 60)
            assert_equal "2", @backend.read(KEY)
          end
        end

        private

        def locks
          Dir.glob(path_of("files/**/*lock"))
        end
      end
    end
  end
end
