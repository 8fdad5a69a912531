# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "larder/sessions"
require "larder/sessions/backends/backed"
require "larder/sessions/backends/store_builder"

module Larder
  module Sessions
    module Backends
      # A program without the store that another has behind the same file: the two configurations of a deploy or its
      # rollback, or a job that names the file alone.
      class UnbackedTest < ActiveSupport::TestCase
        include TemporaryCaches

        setup do
          @now = Time.now.to_i
          @store = ActiveSupport::Cache::MemoryStore.new
          @backed = repository(Backed.new(cache, StoreBuilder.adapter(:backed_by, @store)))
          @alone = repository(Unbacked.new(cache))
        end

        { "ended by its id"   => ->(test) { test.alone.end(test.key("a")) },
          "ended by its user" => ->(test) { Statistics.new(test.alone).logout(1) },
          "revoked"           => :revoke.to_proc,
          "ended with all"    => ->(test) { Statistics.new(test.alone).logout_all } }.each do |how, act|
          test "a session that was #{how} does not come back from the store" do
            @backed.begin(key("a"), { "user_id" => 1 })
            assert act.call(self)
            assert_nil @backed.find(key("a"))
            @backed.backend.tell
            assert_empty copies
            cache.clear
            assert_nil @backed.find(key("a")), "the file was lost"
          end
        end

        test "a session that has got another id there does not come back under the former one" do
          @backed.begin(key("a"), { "user_id" => 1 })
          assert @alone.renew(@alone.find(key("a")), key("b"), { "user_id" => 1 })
          assert_nil @backed.find(key("a"))
          assert_equal({ "user_id" => 1 }, @backed.find(key("b")).values)
          @alone.end(key("b"))
          assert_nil @backed.find(key("b"))
        end

        test "a user who has signed out there is not signed in again by the copy when the file is lost" do
          @backed.begin(key("a"), { "user_id" => 1, "cart" => 2 })
          assert @alone.commit(@alone.find(key("a")), { "cart" => 2 })
          @backed.backend.tell
          cache.clear
          assert_equal({ "cart" => 2 }, @backed.find(key("a")).values)
        end

        test "a session that the file had lost before does not come back after a logout of its user" do
          @backed.begin(key("a"), { "user_id" => 1 })
          cache.clear
          assert_nil @backed.find(key("none")) # the application uses the new file
          assert_equal 0, Statistics.new(@alone).logout(1)
          assert_nil @backed.find(key("a"))
          @backed.backend.tell
          cache.clear
          assert_nil @backed.find(key("a")), "the store has the note of the logout"
        end

        test "a session that began after the last copy was made leaves no mark" do
          @backed.begin(key("a"), { "user_id" => 1 })
          @now += 3600
          @alone.begin(key("b"), { "user_id" => 2 })
          assert @alone.end(key("b"))
          assert_empty marks
          assert @alone.end(key("a"))
          assert_equal ["x/s/#{key("a")}", "s/#{key("a")}"], marks
        end

        test "a file without a store behind it gets no marks, and no notes of logouts" do
          @alone.begin(key("a"), { "user_id" => 1 })
          @alone.begin(key("b"), { "user_id" => 1 })
          assert @alone.end(key("a"))
          assert_equal 1, Statistics.new(@alone).logout(1)
          assert_empty marks
          assert_nil cache.get("logout/User/1")
        end

        # Called by blocks that run as another object.
        attr_reader :alone

        def key(name)
          Digest::SHA256.digest(name)
        end

        def revoke
          sessions = Statistics.new(@alone)
          sessions.revoke(sessions.for(1).first.handle)
        end

        private

        def repository(backend)
          Repository.new(backend: backend, format: Format::Json, clock: -> { @now },
                         lifetimes: Lifetimes.new(idle: 30 * 86_400))
        end

        def copies
          @store.instance_variable_get(:@data).keys.grep_v(/ended\z/).grep(/\Asession\/732f/)
        end

        def marks
          cache.each_key(prefix: "x/").to_a + listed
        end

        # @return [Array<String>] what the journal of the file has
        def listed
          @alone.backend.send(:journal).enum_for(:each).flat_map { |_kind, texts| texts }
        end
      end
    end
  end
end
