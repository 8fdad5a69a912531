# frozen_string_literal: true

require "test_helper"
require "larder/sessions"
require "larder/sessions/backends/file"

module Larder
  module Sessions
    # Files that are filled with signed-in sessions for real.
    class RoomTest < ActiveSupport::TestCase
      include TemporaryCaches

      # Bytes of the smallest file, which is filled soon.
      SMALL = 1 << 20

      setup do
        @reports = []
        @cache = open_cache(size: SMALL)
        @repository = repository(@cache)
      end

      test "in a full file those who are signed in go on: their sessions grow, are renewed and change hands" do
        count = fill
        (0...count).step(2) { |i| grow(key(i), "_csrf_token" => "x" * 60) }
        assert_equal "x" * 60, @repository.find(key(0)).values["_csrf_token"]
        found = @repository.find(key(0))
        assert @repository.renew(found, key("renewed"), found.values)
        assert_equal 0, @repository.find(key("renewed")).values["user_id"]
        grow(key(1), "user_id" => "another")
        assert_includes @repository.record(key(1)).users.join, "another"
      end

      test "who is not signed in yet is refused in the request, whether the session is new or was there" do
        @repository.begin(key("anonymous"), { "cart" => 1 })
        @repository.begin(key("other"), { "cart" => 1 })
        fill
        found = @repository.find(key("anonymous"))
        assert_raises(NoRoomError) { @repository.commit(found, { "cart" => 1, "user_id" => 1 }) }
        other = @repository.find(key("other"))
        assert_raises(NoRoomError) { @repository.renew(other, key("renewed"), { "user_id" => 1 }) }
        assert_equal({ "cart" => 1 }, @repository.find(key("anonymous")).values)
        assert @repository.begin(key("new"), { "cart" => 1 })
      end

      test "what has expired gives way before anybody is refused" do
        fill(repository(@cache, lifetimes: Lifetimes.new(idle: 0.5)))
        pinned = @cache.stats[:pinned_bytes]
        sleep 0.1 until @cache.each_key(prefix: Repository::PREFIX).none?
        @cache.delete("pruned") # as after its seconds
        assert_equal pinned, @cache.stats[:pinned_bytes]
        later = repository(@cache)
        assert later.begin(key("later"), { "user_id" => 1 })
        assert_operator @cache.stats[:pinned_bytes], :<, pinned / 4
      end

      test "who is signed in with the last room taken as well is told that a change is lost" do
        count = fill
        error = assert_raises(NoRoomError) { (0...count).each { |i| grow(key(i), "data" => "x" * 4000) } }
        assert_match(/larder resize --keep #{path_of} 2MB/, error.message)
        assert((0...count).all? { |i| @repository.find(key(i)) })
      end

      test "the operator is warned once a day, by one process" do
        fill
        assert_equal [NoRoomSoonError], warnings
        assert_match(/#{path_of} has [89]\d % .* larder resize --keep #{path_of} 2MB/, @reports.first.message)
        others = Array.new(2) { repository(@cache) }
        others.each { |other| refute_begin(other) }
        assert_equal [NoRoomSoonError], warnings
        assert_in_delta 86_400, @cache.ttl("warned"), 60
        @cache.delete("warned") # as after a day; its room may be that of a sign-in
        fill(repository(@cache))
        assert_equal [NoRoomSoonError] * 2, warnings
      end

      test "a truncated file is no reason to refuse a sign-in" do
        assert @repository.begin(key(1), { "user_id" => 1 })
        room = Room.new(@cache, report: @reports.method(:<<))
        File.truncate(@cache.path, 0)
        assert_predicate room, :for_sign_in?
        assert_empty @reports
      end

      private

      def repository(cache, lifetimes: Lifetimes.new(idle: 1000))
        Repository.new(backend: Backends::File.new(cache), format: Format::Json, lifetimes: lifetimes,
                       report: @reports.method(:<<))
      end

      def key(name)
        Digest::SHA256.digest(name.to_s)
      end

      # @return [Integer] how many have signed in
      def fill(repository = @repository)
        count = 0
        loop do
          repository.begin(key(count), { "user_id" => count, "data" => "x" * 300 })
          count += 1
        end
      rescue NoRoomError
        count
      end

      def grow(key, values)
        found = @repository.find(key)
        assert @repository.commit(found, found.values.merge(values))
      end

      def refute_begin(repository)
        assert_raises(NoRoomError) { repository.begin(key("one more"), { "user_id" => "one more" }) }
      end

      def warnings
        @reports.map(&:class) - [NoRoomError]
      end
    end
  end
end
