# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "larder/sessions"
require "larder/sessions/backends/backed"
require "larder/sessions/backends/store_builder"
require "support/counted_sessions"

module Larder
  module Sessions
    # Questions about sessions, and what ends them from outside.
    class StatisticsTest < ActiveSupport::TestCase
      include CountedSessions

      # A model as applications have them, which are not in a module of Larder's.
      Admin = Struct.new(:id) { def self.name = "Admin" }

      test "who is signed in is known until the session ends, is signed out or is over" do
        refute @statistics.logged_in?(1)
        enter("a", 1)
        enter("b", 2)
        assert @statistics.logged_in?(1)
        assert @statistics.logged_in?("2")
        assert @statistics.logged_in?("User/2")
        refute @statistics.logged_in?(3)
        @repository.end(key("a"))
        refute @statistics.logged_in?(1)
        found = @repository.find(key("b"))
        @repository.commit(found, found.values.except("user_id"))
        refute @statistics.logged_in?("2")
      end

      test "a session that is over is nobody's, though nobody asked for it" do
        @repository = repository(@repository.backend, lifetimes: Lifetimes.new(idle: 600))
        @statistics = Statistics.new(@repository)
        enter("a", 1)
        @now += 600 + Lifetimes::USED_EVERY
        refute @statistics.logged_in?(1)
        assert_empty @statistics.for(1)
      end

      test "another who signs in in the same session takes it over" do
        enter("a", 1)
        found = @repository.find(key("a"))
        @repository.commit(found, { "user_id" => 2 })
        assert_equal [false, true], [@statistics.logged_in?(1), @statistics.logged_in?(2)]
      end

      test "a session is that of everybody who is signed in in it" do
        admin = Admin.new(7)
        both = { "user_id" => 1, "warden.user.admin.key" => [[7], "salt"] }
        %w[a b c d].each { |name| assert @repository.begin(key(name), both, bound: [Identity.of(admin)]) }
        users = [1, "Admin/7", admin]
        users.each do |user|
          assert @statistics.logged_in?(user)
          info = @statistics.for(user).last
          assert_equal [info.user, %w[Admin/7 User/1]], [info.users.first, info.users.last(2).sort]
        end
        assert_equal 1, users.map { |user| @statistics.for(user).map(&:handle).sort }.uniq.size
        users.each { |user| assert @statistics.revoke(@statistics.for(user).first.handle) }
        assert_equal 1, @statistics.for(1).size
        found = @repository.find(key(%w[a b c d].find { |name| @repository.find(key(name)) }))
        assert @repository.commit(found, { "user_id" => 1 }, bound: [])
        assert_equal [true, false, false], users.map { |user| @statistics.logged_in?(user) }
      end

      test "a logout of anybody ends the session in which others are signed in as well" do
        both = { "user_id" => 1, "warden.user.admin.key" => [[7], "salt"] }
        [1, "Admin/7"].each do |user|
          assert @repository.begin(key("a"), both)
          slow = @repository.find(key("a"))
          assert_equal 1, @statistics.logout(user)
          assert_nil @repository.find(key("a"))
          refute @repository.commit(slow, both.merge("late" => 1))
          refute @statistics.logged_in?(1)
          refute @statistics.logged_in?("Admin/7")
        end
      end

      test "a logout ends all but the one that a handle names, whoever it was told to" do
        both = { "user_id" => 1, "warden.user.admin.key" => [[7], "salt"] }
        %w[a b].each { |name| assert @repository.begin(key(name), both) }
        kept = @statistics.for(1).first.handle
        assert_equal 1, @statistics.logout("Admin/7", except: kept)
        assert_equal [kept], @statistics.for("Admin/7").map(&:handle)
      end

      test "a logout of one who is signing in beside somebody ends the session" do
        enter("a", 1)
        statistics = @statistics
        @repository.backend.define_singleton_method(:swap) do |key, *rest, **options|
          statistics.logout("Admin/7") if key.start_with?("s/")
          super(key, *rest, **options)
        end
        found = @repository.find(key("a"))
        refute @repository.commit(found, { "user_id" => 1, "warden.user.admin.key" => [[7], "salt"] })
        assert_nil @repository.find(key("a"))
      end

      test "a user of one class is none of another, whatever the id says" do
        enter("a", "Admin/33")
        enter("b", "admin/33")
        refute @statistics.logged_in?("Admin/33")
        assert_equal 0, @statistics.logout(Admin.new(33))
        assert_equal 0, @statistics.logout("Admin/33")
        assert @statistics.logged_in?("User/Admin%2F33")
        assert @statistics.logged_in?("admin/33"), "has not the form of a name"
      end

      test "when somebody was last seen is known to a minute, also after the end" do
        assert_nil @statistics.last_seen(1)
        enter("a", 1)
        enter("b", 1)
        @now += 120
        found = @repository.find(key("a"))
        @repository.commit(found, found.values)
        assert_equal Time.at(@now), @statistics.last_seen(1)
        @repository.end(key("a"))
        @repository.end(key("b"))
        assert_equal Time.at(@now), @statistics.last_seen(1)
      end

      test "the sessions of a user are listed with what an application wants to show, and none of their secrets" do
        enter("a", 1, "agent" => "Firefox")
        @now += 120
        enter("b", 1, "agent" => "Chromium")
        enter("c", 2)
        infos = @statistics.for(1)
        assert_equal(%w[Chromium Firefox], infos.map { |info| info["agent"] })
        assert_equal([Time.at(@now), Time.at(@now - 120)], infos.map(&:used_at))
        assert_equal ["User/1"], infos.map(&:user).uniq
        shown = infos.inspect + infos.map(&:to_h).to_s
        ["a", "b"].each do |name|
          assert_not_includes shown, key(name).unpack1("H*")
          assert_not_includes shown.b, key(name)
        end
      end

      test "a handle ends the session that it names and no other" do
        %w[a b].each { |name| enter(name, 1) }
        handle = @statistics.for(1).first.handle
        refute @statistics.revoke(handle.sub(/.\z/) { |last| last == "0" ? "1" : "0" })
        refute @statistics.revoke("nonsense")
        ["", nil, "\xff.#{"0" * 32}", "MQ.\xff", "#{"M" * 20_000}.#{"0" * 32}"].each do |given|
          refute @statistics.revoke(given)
        end
        anothers = "#{["User/2"].pack("m0").delete("=")}.#{handle.split(".").last}"
        refute @statistics.revoke(anothers), "another user's name"
        assert_equal 2, @statistics.for(1).size
        assert @statistics.revoke(handle)
        refute @statistics.revoke(handle)
        assert_equal 1, @statistics.for(1).size
        assert_equal 1, %w[a b].count { |name| @repository.find(key(name)) }
      end

      test "a handle ends only a session of the user that is given, and nil is not a user" do
        enter("a", 1)
        handle = @statistics.for(1).first.handle
        refute @statistics.revoke(handle, of: 2)
        [handle, "nonsense"].each do |given|
          assert_raises(InvalidArgument) { @statistics.revoke(given, of: nil) }
          Sessions.use(@repository) { assert_raises(InvalidArgument) { Sessions.revoke(given, of: nil) } }
        end
        assert_equal 1, @statistics.for(1).size
        assert @statistics.revoke(handle, of: 1)
      end

      test "handles are the same in every process of the file, and others in another file" do
        enter("a", 1)
        other = Statistics.new(repository(Backends::File.new(open_cache("other.larder"))))
        other.send(:secret)
        handle = @statistics.for(1).first.handle
        assert_equal handle, Statistics.new(repository(@repository.backend)).for(1).first.handle
        refute other.revoke(handle)
      end

      test "logout ends all sessions of a user but one" do
        %w[a b c].each { |name| enter(name, 1) }
        enter("d", 2)
        last = @statistics.for(1).last.handle
        assert_equal 2, @statistics.logout(1, except: last)
        assert_equal [last], @statistics.for(1).map(&:handle)
        assert_equal 1, @statistics.logout(1)
        assert_empty @statistics.for(1)
        assert @statistics.logged_in?(2)
        assert_raises(InvalidArgument) { @statistics.logout(1, except: "no handle") }
      end

      test "an object that is not the session of a request is refused" do
        session = Struct.new(:id).new("text")
        [{}, session].each do |wrong|
          error = assert_raises(InvalidArgument) { @statistics.handle_of(wrong) }
          assert_match(/#{wrong.class} has no id of a session: give the session of a request/, error.message)
          assert_raises(InvalidArgument) { @statistics.logout(1, except: wrong) }
        end
      end

      test "what was logged out is not brought back by a request that is still at work on it" do
        enter("a", 1)
        slow = @repository.find(key("a"))
        @statistics.logout(1)
        refute @repository.commit(slow, slow.values.merge("late" => true))
        assert_nil @repository.find(key("a"))
        refute @statistics.logged_in?(1)
      end

      test "a logout that comes between the entry of a sign-in and its session ends it" do
        statistics = @statistics
        backend = @repository.backend
        backend.define_singleton_method(:add) do |key, *rest, **options|
          statistics.logout(1) if key.start_with?("s/")
          super(key, *rest, **options)
        end
        refute @repository.begin(key("a"), { "user_id" => 1 })
        assert_nil @repository.find(key("a"))
      end

      test "a logout that has looked at a session before somebody signs in in it ends it" do
        @repository.begin(key("a"), { "cart" => 1 })
        found = @repository.find(key("a"))
        sign_in = Fiber.new { @repository.commit(found, { "user_id" => 1 }) }
        @repository.backend.define_singleton_method(:swap) do |key, *rest, **options|
          Fiber.yield if key.start_with?("s/") && Fiber.current == sign_in
          super(key, *rest, **options)
        end
        sign_in.resume # it is entered, and not yet stored
        @repository.index.users.define_singleton_method(:remove) do |*all, **options|
          sign_in.resume if sign_in.alive?
          super(*all, **options)
        end
        @statistics.logout(1)
        refute sign_in.alive?
        assert_nil @repository.find(key("a")), "nobody could end it any more"
      end

      test "a session that each request changes stays its user's for as long as it lives" do
        @repository = repository(@repository.backend, lifetimes: Lifetimes.new(idle: 16_000))
        enter("a", 1)
        @now += 2000
        found = @repository.find(key("a"))
        ends = @now + 16_000 + Lifetimes::USED_EVERY
        @repository.commit(found, found.values.merge("a" => 1))
        assert_operator entry_ends(@repository.backend), :>=, ends
      end

      test "whoever is signed in is found, and signed out, after sessions may live for longer" do
        [3600, 86_400, nil].product([true, false], [:file, :store, :backed]) do |idle, changes, where|
          backend = backend_of(where)
          repository(backend, lifetimes: Lifetimes.new(idle: 60)).begin(key("a"), { "user_id" => 1 })
          longer = repository(backend, lifetimes: Lifetimes.new(idle: idle))
          @now += 61
          found = longer.find(key("a"))
          assert longer.commit(found, changes ? { "user_id" => 1, "a" => 1 } : found.values)
          @now += 3000
          forget_expired(backend)
          assert longer.find(key("a"))
          statistics = Statistics.new(longer)
          assert statistics.logged_in?(1), [idle, changes, where].inspect
          assert_equal [1, 1], [statistics.for(1).size, statistics.logout(1)]
          assert_nil longer.find(key("a"))
        end
      end

      test "a user's entry that is gone is there again after the next use" do
        enter("a", 1)
        enter("b", 1)
        @repository.backend.cache.delete("u/User/1")
        refute @statistics.logged_in?(1)
        @now += 60
        %w[a b].each { |name| use(name) }
        assert @statistics.logged_in?(1)
        assert_equal 2, @statistics.logout(1)
      end

      test "logging out everybody ends who is signed in and leaves the others" do
        5.times { |i| enter("a#{i}", i) }
        @repository.begin(key("cart"), { "cart" => 1 })
        slow = @repository.find(key("a0"))
        assert_equal 5, @statistics.logout_all
        refute @repository.commit(slow, { "user_id" => 0, "late" => 1 })
        assert_equal [0, 1], @statistics.stats.values_at(:signed_in, :anonymous)
        assert @repository.find(key("cart"))
      end

      test "who is online is told, the one used last before the others, by each name" do
        enter("old", 3)
        @now += 600
        enter("a", 1)
        enter("b", 2, "warden.user.admin.key" => [[7], "salt"])
        @now += 60
        enter("c", 2)
        @repository.begin(key("cart"), { "cart" => 1 })
        assert_equal [["User/2", Time.at(@now)], ["Admin/7", Time.at(@now - 60)], ["User/1", Time.at(@now - 60)]],
                     @statistics.online(last: 300).to_a
        assert_equal ["User/2"], @statistics.online(last: 300, limit: 1).keys
        assert_equal ["User/2"], @statistics.online(last: 59, limit: 10).keys
        assert_includes @statistics.online(last: 3600), "User/3"
        %w[a b c].each { |name| @repository.end(key(name)) }
        assert_empty @statistics.online(last: 300)
        [0, nil].each { |last| assert_raises(InvalidArgument) { @statistics.online(last: last) } }
        [0, "5", 1.5].each do |limit|
          error = assert_raises(InvalidArgument) { @statistics.online(last: 60, limit: limit) }
          assert_match(/limit: #{Regexp.escape(limit.inspect)} is no number/, error.message)
        end
      end

      test "clearing the sessions of nobody leaves who is signed in" do
        5.times { |i| @repository.begin(key("a#{i}"), { "cart" => i }) }
        enter("b", 1)
        slow = @repository.find(key("a0"))
        assert_equal 5, @statistics.clear_anonymous
        refute @repository.commit(slow, { "cart" => 7 })
        assert_equal [1, 0], @statistics.stats.values_at(:signed_in, :anonymous)
        assert @statistics.logged_in?(1)
        assert_equal 0, @statistics.clear_anonymous
      end

      test "clearing does not end the session of somebody who has signed in after it was looked at" do
        @repository.begin(key("a"), { "cart" => 1 })
        repository = @repository
        test = self
        signs_in = lambda do
          found = repository.find(test.send(:key, "a"))
          repository.commit(found, { "user_id" => 1 })
        end
        @repository.backend.define_singleton_method(:swap) do |name, *rest, **options|
          singleton_class.remove_method(:swap)
          signs_in.call
          super(name, *rest, **options)
        end
        assert_equal 0, @statistics.clear_anonymous
        assert @statistics.logged_in?(1)
        assert @repository.find(key("a"))
      end

      test "logging out everybody needs no room, and goes on where another does the same" do
        statistics = @statistics
        full = true
        @repository.backend.define_singleton_method(:add) do |key, *rest, pin:|
          full && key == "logout" && pin ? :full : super(key, *rest, pin: pin)
        end
        enter("a", 1)
        assert_equal 1, @statistics.logout_all
        full = false
        enter("b", 1)
        @repository.backend.define_singleton_method(:swap) do |key, *rest, **options|
          singleton_class.remove_method(:swap)
          statistics.logout_all
          super(key, *rest, **options)
        end
        @now += 1
        assert_equal 0, @statistics.logout_all
        refute @statistics.logged_in?(1)
      end

      test "a user has at most a number of sessions: the oldest of more end" do
        @repository = repository(@repository.backend, per_user: 3)
        @statistics = Statistics.new(@repository)
        %w[a b c].each { |name| enter(name, 1) }
        @repository.end(key("b"))
        enter("d", 1)
        assert @repository.find(key("a")), "what has ended does not count"
        enter("e", 1)
        assert_nil @repository.find(key("a"))
        assert_equal 3, @statistics.for(1).size
      end

      test "the same number of sessions for each of several users" do
        @repository = repository(@repository.backend, per_user: 2)
        @statistics = Statistics.new(@repository)
        %w[a b].each { |name| enter(name, 1, "warden.user.admin.key" => [[7], "salt"]) }
        enter("c", 2, "warden.user.admin.key" => [[7], "salt"])
        assert_nil @repository.find(key("a"))
        assert_equal [1, 1, 2], [1, 2, "Admin/7"].map { |user| @statistics.for(user).size }
      end

      test "the figures of stats" do
        3.times { |i| enter("u#{i}", i) }
        @repository.begin(key("a"), { "cart" => 1 })
        stats = @statistics.stats
        assert_equal [4, 3, 1], stats.values_at(:sessions, :signed_in, :anonymous)
        assert_equal [4] * 4, stats.values_at(:active_1m, :active_5m, :active_1h, :active_1d)
        assert_operator stats[:pinned_bytes], :>, 0
        assert_operator stats[:full], :<, 0.1
      end

      test "a question about no time is refused" do
        [0, -1, "5", nil].each do |last|
          error = assert_raises(InvalidArgument) { @statistics.active(last: last) }
          assert_match(/last: #{Regexp.escape(last.inspect)}/, error.message)
        end
      end

      test "who is signed in stays when others come in numbers" do
        small = repository(Backends::File.new(open_cache("small.larder", size: 1 << 20)))
        200.times { |i| assert small.begin(key("u#{i}"), { "user_id" => i }) }
        20_000.times { |i| small.begin(key("a#{i}"), { "cart" => "x" * 100 }) }
        assert_equal(200, 200.times.count { |i| small.find(key("u#{i}")) })
        assert_equal(200, 200.times.count { |i| Statistics.new(small).logged_in?(i) })
      end

      test "a full file says so, and loses nobody who is signed in" do
        small = repository(Backends::File.new(open_cache("small.larder", size: 1 << 20)))
        signed_in = -1
        error = assert_raises(NoRoomError) do
          small.begin(key("u#{signed_in}"), { "user_id" => signed_in, "data" => "x" * 500 }) while signed_in += 1
        end
        assert_match(/small\.larder is full of signed-in sessions.*larder resize --keep \S*small\.larder 2MB/,
                     error.message)
        assert_operator signed_in, :>, 500
        assert_equal [NoRoomSoonError, NoRoomError], @reports.map(&:class)
        @reports.clear
        assert(signed_in.times.all? { |i| small.find(key("u#{i}")) })
        refute Statistics.new(small).logged_in?(signed_in)
        assert small.begin(key("anonymous"), { "cart" => 1 })
      end

      test "on another store users and activity are known, and what looks at all sessions says what to use" do
        @repository = repository(Backends::Store.new(ActiveSupport::Cache::MemoryStore.new))
        @statistics = Statistics.new(@repository)
        %w[a b].each { |name| enter(name, 1) }
        assert @statistics.logged_in?(1)
        assert_equal [2, 2, 0], [nil, true, false].map { |kind| active(60, kind) }
        assert_equal({ active_1m: 2, active_5m: 2, active_1h: 2, active_1d: 2 }, @statistics.stats)
        assert @statistics.revoke(@statistics.for(1).first.handle)
        assert_equal 1, @statistics.logout(1)
        refute @statistics.logged_in?(1)
        assert_equal 0, active(60)
        [-> { @statistics.online(last: 60) }, -> { @statistics.clear_anonymous }].each do |question|
          error = assert_raises(UnsupportedError, &question)
          assert_match(/\AActiveSupport::Cache::MemoryStore cannot list its sessions.*a Redis in cache:/, error.message)
        end
        error = assert_raises(UnsupportedError) { @statistics.recount }
        assert_match(/recount is for sessions in a file.*ActiveSupport::Cache::MemoryStore/, error.message)
      end

      test "a store without counters keeps sessions, and says that it has none" do
        @repository = repository(Backends::Store.new(Plain.new))
        @statistics = Statistics.new(@repository)
        enter("a", 1)
        assert @statistics.logged_in?(1)
        [-> { active(60) }, -> { @statistics.stats }].each do |question|
          assert_match(/has no counters \(increment\)/, assert_raises(UnsupportedError, &question).message)
        end
        assert_nil @statistics.logout_all
        refute @statistics.logged_in?(1)
      end

      # A store of an application's own, which cannot count.
      class Plain < ActiveSupport::Cache::Store
        private

        def read_entry(key, **) = (@entries ||= {})[key]
        def write_entry(key, entry, **) = (@entries ||= {})[key] = entry
        def delete_entry(key, **) = !(@entries ||= {}).delete(key).nil?
      end

      private

      def backend_of(where)
        store = ActiveSupport::Cache::MemoryStore.new
        return Backends::Store.new(store) if where == :store

        file = open_cache("#{@files = @files.to_i + 1}.larder", size: 1 << 20)
        return Backends::File.new(file) if where == :file

        Backends::Backed.new(file, Backends::StoreBuilder.adapter(:backed_by, store))
      end

      # An entry whose end has come by the clock of this test.
      def forget_expired(backend)
        backend.delete("u/User/1") if entry_ends(backend) <= @now
      end

      def entry_ends(backend)
        high, low = backend.read("u/User/1").unpack("@6CN")
        (high << 32) | low
      end
    end
  end
end
