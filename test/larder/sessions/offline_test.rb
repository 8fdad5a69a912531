# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "larder/sessions"
require "larder/sessions/backends/backed"
require "larder/sessions/backends/store_builder"
require "larder/sessions/offline"

module Larder
  module Sessions
    # A program beside the application, with the file alone.
    class OfflineTest < ActiveSupport::TestCase
      include TemporaryCaches

      setup do
        @now = Time.now.to_i
        @store = ActiveSupport::Cache::MemoryStore.new
      end

      test "it finds who is signed in, and answers as the application does" do
        plain(Lifetimes.new(idle: 3600))
        enter("a", 1)
        enter("b", 2)
        offline do |sessions|
          assert_equal [2, 2, 0], sessions.stats.values_at(:sessions, :signed_in, :anonymous)
          assert_equal 2, sessions.active(last: 300, signed_in: true)
          assert_equal Statistics.new(@repository).for(1).map(&:to_h), sessions.for("1").map(&:to_h)
          assert_equal Time.at(@now), sessions.last_seen("2")
        end
      end

      test "it knows a file that was emptied or made anew as soon as somebody has signed in there" do
        plain(Lifetimes.new(idle: 3600))
        { "emptied" => -> { cache.clear }, "resized" => -> { cache.resize(2 << 20) },
          "removed" => -> { File.delete(path_of, "#{path_of}.lock") && sleep(0.3) } }.each do |how, act|
          enter("before #{how}", 1)
          act.call
          enter("after #{how}", 2)
          offline { |sessions| assert_equal 1, sessions.for(2).size, how }
        end
      end

      test "it takes for over what the application does, which has changed its mind about lifetimes" do
        plain(Lifetimes.new)
        @now -= 7200
        enter("a", 1)
        offline { |sessions| assert_equal 1, sessions.for("1").size }
        plain(Lifetimes.new(idle: 3600))
        offline do |sessions|
          assert_empty sessions.for("1")
          assert_equal 0, sessions.stats[:sessions]
        end
        plain(Lifetimes.new(idle: 86_400, max: 7300))
        offline { |sessions| assert_equal 1, sessions.for("1").size }
        plain(Lifetimes.new(idle: 86_400, max: 7100))
        offline { |sessions| assert_empty sessions.for("1") }
      end

      test "what it ends has ended, also for a request that is at work on it" do
        plain(Lifetimes.new(idle: 3600))
        %w[a b c].each { |name| enter(name, 1) }
        slow = @repository.find(key("a"))
        offline do |sessions|
          handles = sessions.for("1").map(&:handle)
          assert sessions.revoke(handles.first)
          assert_equal 1, sessions.logout("1", except: handles.last)
          assert_equal handles.last(1), sessions.for("1").map(&:handle)
          assert_equal 1, sessions.logout_all
        end
        refute @repository.commit(slow, { "user_id" => 1, "late" => true })
        assert_equal 0, Statistics.new(@repository).stats[:sessions]
        assert_empty cache.each_key(prefix: "x/").to_a, "marks are for files with a store behind them"
      end

      test "it makes no file, and takes none that is not of sessions" do
        assert_raises(OpenError) { Offline.open(path_of("none.larder")) { flunk } }
        assert_empty Dir.children(directory)
        open_cache("cache.larder").set("n/m1", "counted by somebody else")
        error = assert_raises(NoSettingsError) { Offline.open(path_of("cache.larder")) { flunk } }
        assert_match(/cache\.larder tells nothing about sessions/, error.message)
      end

      test "a handle that is nobody's ends nothing" do
        backed
        enter("a", 1)
        offline do |sessions|
          assert_raises(InvalidArgument) { sessions.logout("1", except: "nonsense") }
          assert_raises(InvalidArgument) { sessions.logout("") }
          refute sessions.revoke("nonsense")
        end
        assert @repository.find(key("a"))
        forget("a")
        assert @repository.find(key("a")), "nor keeps it from being reloaded"
      end

      test "what it ended does not come back from the store behind the file" do
        backed
        %w[a b c d].each { |name| enter(name, name < "c" ? 1 : 2) }
        offline do |sessions|
          assert sessions.revoke(sessions.for("1").first.handle)
          assert_equal 1, sessions.logout("1")
          assert_equal 2, sessions.logout_all
        end
        assert_equal(4, %w[a b c d].count { |name| @store.exist?(Backends::Store.name_of("s/#{key(name)}")) })
        assert_empty(%w[a b c d].filter_map { |name| @repository.find(key(name)) })
        refute Statistics.new(@repository).logged_in?(1)
      end

      test "the application tells the store behind the file, and so other machines" do
        backed
        enter("a", 1)
        enter("b", 2)
        offline { |sessions| assert_equal 1, sessions.logout("1") }
        assert @store.exist?(Backends::Store.name_of("s/#{key("a")}"))
        @repository.backend.tell
        refute @store.exist?(Backends::Store.name_of("s/#{key("a")}"))
        application(behind(open_cache("other.larder")), Lifetimes.new)
        assert_nil @repository.find(key("a"))
        assert @repository.find(key("b"))
        assert_includes @now..::Time.now.to_i, @store.read(Backends::Store.name_of("logout/User/1")).to_i
      end

      test "nor does what this file had lost before" do
        backed
        enter("a", 1)
        enter("b", 2)
        @repository.begin(key("cart"), { "cart" => 1 })
        %w[a b cart].each { |name| forget(name) }
        cache.delete("u/User/1")
        offline { |sessions| assert_equal 0, sessions.logout("1") }
        assert_nil @repository.find(key("a"))
        assert @repository.find(key("b")), "another's"
        forget("b")
        offline(&:logout_all)
        assert_nil @repository.find(key("b"))
        assert @repository.find(key("cart"))
        @now += 1
        enter("c", 1)
        forget("c")
        assert @repository.find(key("c")), "who signs in afterwards stays"
      end

      test "a session that is reloaded while its user is logged out has ended" do
        backed
        enter("a", 1)
        forget("a")
        cache.delete("u/User/1")
        test = self
        @repository.backend.define_singleton_method(:restore) do |name, *rest, **options|
          test.offline { |sessions| sessions.logout("1") } if name.start_with?("s/")
          super(name, *rest, **options)
        end
        assert_nil @repository.find(key("a"))
        assert_nil @repository.backend.read("s/#{key("a")}")
      end

      test "a mark lives as long as the copy" do
        [[Lifetimes.new(idle: 30 * 86_400), 30 * 86_400], [Lifetimes.new(idle: 600), 600],
         [Lifetimes.new, Float::INFINITY]].each do |lifetimes, life|
          backed(lifetimes)
          enter("a", 1)
          offline(&:logout_all)
          assert_operator cache.ttl("x/s/#{key("a")}"), :>=, life - 60
          cache.clear
        end
      end

      # Called by blocks that run as another object.
      def offline
        Offline.open(path_of, report: ->(error) { raise error }) { |sessions| yield sessions }
      end

      private

      def plain(lifetimes)
        application(Backends::File.new(cache), lifetimes)
      end

      def backed(lifetimes = Lifetimes.new(idle: 30 * 86_400))
        application(behind(cache), lifetimes)
      end

      def behind(cache)
        Backends::Backed.new(cache, Backends::StoreBuilder.adapter(:backed_by, @store))
      end

      def application(backend, lifetimes)
        @repository = Repository.new(backend: backend, format: Format::Json, lifetimes: lifetimes, clock: -> { @now })
        @repository.index.announce
      end

      def key(name)
        Digest::SHA256.digest(name)
      end

      def enter(name, user)
        assert @repository.begin(key(name), { "user_id" => user })
      end

      # As a file does that was lost.
      def forget(name)
        cache.delete("s/#{key(name)}")
      end
    end
  end
end
