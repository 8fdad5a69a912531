# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "json"
require "rack/session/larder"
require "support/command"

module Larder
  module CLI
    # `larder resize` in processes of its own, on a file that others have open, or nobody.
    class ResizeTest < ActiveSupport::TestCase
      include TemporaryCaches
      include Processes
      include Command

      LIB = File.expand_path("../../../lib", __dir__)

      def file
        path_of("test.larder")
      end

      test "a new empty file takes the place, and who runs goes on with it" do
        cache.set("k", "old")
        reader, writer = IO.pipe
        other = fork do
          opened = cache
          exit!(1) unless opened.get("k") == "old"
          writer.write("x")
          sleep(0.001) until opened.get("k") == "new"
          exit!(opened.size == 16 << 20 ? 0 : 2)
        end
        reader.read(1)
        assert_equal "#{file} has 16.0 MiB now, before 8.0 MiB.\n", done("resize", file, "16MB")
        assert_equal [nil, 16 << 20], [cache.get("k"), cache.size]
        assert cache.set("k", "new")
        assert_equal 0, wait_for(other).exitstatus
        assert_equal %w[test.larder test.larder.lock], Dir.children(directory).sort
      end

      test "the size is written as people do, and the path may be the usual one" do
        open_cache("storage/larder/development/cache.larder").close
        answer = JSON.parse(done("resize", "1.5 MB", "--json"))
        assert_equal [3 << 19, SIZE, 0], answer.values_at("size_bytes", "former_size_bytes", "items")
        assert_equal 2, refused(/name a SIZE.*larder resize --help/m, "resize")
        assert_equal 2, refused(/SIZE "large" is no size; give a positive number of bytes/, "resize", file, "large")
        assert_equal 2, refused(/unexpected argument b/, "resize", "a", "b", "1MB")
      end

      test "what fails leaves it as it was" do
        cache.set("k", "v")
        assert_equal 1, refused(/size 1024 is not between/, "resize", file, "1KB")
        assert_equal 1, refused(/the disk has no room for the cache/, "resize", file, "1TB")
        assert_equal 1, refused(/there is no file/, "resize", path_of("nowhere"), "1MB")
        assert_equal ["v", SIZE], [cache.get("k"), cache.size]
        assert_not File.exist?(path_of("nowhere"))
      end

      test "with --keep it has what it had" do
        cache.set("short", "1", ttl: 1000)
        cache.set("large", "x" * 900_000)
        cache.set("kept", "2", pin: true)
        cache.increment("n", 5)
        cache.close
        assert_equal "#{file} has 16.0 MiB now, before 8.0 MiB: 4 items kept.\n", done("resize", file, "16MB", "--keep")
        again = open_cache(size: 16 << 20)
        assert_equal ["1", "x" * 900_000, "2"], (%w[short large kept].map { |key| again.get(key) })
        assert_equal 6, again.increment("n")
        assert_includes 900..1000, again.ttl("short")
        assert_operator again.stats[:pinned_bytes], :>, 0
      end

      test "with --keep nobody may have it open, and who has is named" do
        cache.set("k", "v")
        assert_equal 1, refused(/a process has #{file} open: #{Process.pid} \(.*ruby.*\)\. Stop the application, or/,
                                "resize", file, "16MB", "--keep")
        assert_equal ["v", SIZE], [cache.get("k"), cache.size]
      end

      # Each command is the first process of its container.
      test "with --keep a process of another container counts, also if it has the same id" do
        container = ["unshare", "--pid", "--fork", "--kill-child=KILL", RbConfig.ruby]
        skip "needs namespaces" unless system(*container, "-e", "exit!(Process.pid == 1)", err: File::NULL)
        cache.set("k", "v")
        cache.close
        holder = "Larder::Cache.open(ARGV[0]) { |cache| puts(cache.get('k')); $stdout.flush; $stdin.gets }"
        Open3.popen2(*container, "-I#{LIB}", "-rlarder", "-e", holder, file) do |input, output, _|
          assert_equal "v\n", output.gets
          words = [*container, PROGRAM]
          out, status = Open3.capture2e(PLAIN, *words, "resize", file, "16MB", "--keep")
          assert_match(/a process has #{file} open: 1 in another container\. Stop the application, or/, out)
          assert_equal [1, SIZE], [status.exitstatus, File.size(file)]
          figures, = Open3.capture2(PLAIN, *words, "stat", file, "--json")
          assert_equal [[1], 1], JSON.parse(figures).values_at("pids", "processes")
          input.puts
        end
      end

      test "with --keep what must be kept must fit" do
        400.times { |i| cache.set("k#{i}", "v" * 4000, pin: true) }
        cache.close
        assert_equal 1, refused(/1\.0 MiB have no room for what .* must keep, and nothing .*; name a larger SIZE/,
                                "resize", file, "1MB", "--keep")
        assert_equal "v" * 4000, open_cache.get("k399")
      end

      test "sessions are not emptied, and all are kept: values, users, handles, pins, tombstones, TTLs and notes" do
        sessions(backed_by: [:file_store, path_of("store")])
        fill
        kept = Larder::Sessions::Statistics.new(@repository).for(1).last.handle
        former = Digest::SHA256.digest("u2")
        assert @repository.renew(@repository.find(former), Digest::SHA256.digest("renewed"), { "user_id" => 2 })
        @repository.end(Digest::SHA256.digest("u3"))
        Larder::Sessions::Statistics.new(@repository).logout(4)
        before = everything
        assert_equal 1, refused(/holds an application's sessions.*--keep keeps them/, "resize", file, "16MB")
        @repository.backend.cache.close
        [16, 5].each do |size|
          done("resize", file, "#{size}MB", "--keep")
          sessions(backed_by: [:file_store, path_of("store")])
          assert_same_as before
          @repository.backend.cache.close
        end
        sessions(backed_by: [:file_store, path_of("store")])
        statistics = Larder::Sessions::Statistics.new(@repository)
        assert_nil @repository.find(Digest::SHA256.digest("u3")), "its tombstone is there"
        assert @repository.end(former), "by the id that it had before"
        assert_nil @repository.find(Digest::SHA256.digest("renewed"))
        assert statistics.revoke(kept)
        assert_equal 1, statistics.logout(1)
        refute statistics.logged_in?(1)
        assert statistics.logged_in?(5)
      end

      test "counts of sessions are made anew by --keep" do
        sessions
        fill
        sessions = @repository.backend.cache
        sessions.each_key(prefix: "n/").to_a.each { |name| sessions.delete(name) }
        sessions.close
        done("resize", file, "16MB", "--keep")
        figures = JSON.parse(done("sessions", "--file", file, "--json"))
        assert_equal [13, 9, 4], figures.values_at("sessions", "signed_in", "anonymous")
      end

      { "many users' sessions" => [[*0..1500], 700], "many anonymous sessions" => [[nil] * 1500, 700],
        "a user's long session" => [[1], 20_000], "a long anonymous session" => [[nil], 1_100_000] }
        .each do |what, (users, bytes)|
        test "a size without room for #{what} is refused, with one that has" do
          message = /1\.0 MiB have no room for its sessions, and nothing has changed; name (\d+)MB/
          sessions(size: 16 << 20)
          users.each_with_index { |user, i| enter("s#{i}", { "user_id" => user, "data" => "x" * bytes }.compact) }
          before = everything
          @repository.backend.cache.close
          _, error, code = larder("resize", file, "1MB", "--keep")
          assert_match message, error
          assert_equal [1, 16 << 20], [code, File.size(file)]
          assert_equal %w[test.larder test.larder.lock], Dir.children(directory).sort
          done("resize", file, "#{error[message, 1]}MB", "--keep")
          assert_operator File.size(file), :<, 16 << 20
          sessions
          assert_same_as before
        end
      end

      test "sessions that never end are known for sessions" do
        sessions(idle_timeout: nil, anonymous_timeout: nil)
        fill
        assert_equal 1, refused(/holds an application's sessions/, "resize", file, "16MB")
        assert_equal 1, refused(/holds an application's sessions/, "clear", file)
      end

      private

      def sessions(**options)
        options = { file: file, size: File.size?(file) || SIZE, **options }
        @repository = Rack::Session::Larder.new(->(_env) { [200, {}, []] }, options).repository
        @repository.find("a" * 32) # as a request does
      end

      def fill
        8.times { |i| enter("u#{i}", { "user_id" => i, "cart" => [i] }) }
        enter("second of u1", { "user_id" => 1 })
        4.times { |i| enter("a#{i}", { "cart" => [i] }) }
      end

      def enter(name, values)
        assert @repository.begin(Digest::SHA256.digest(name), values)
      end

      # What the file holds but for counts, and what the questions about it answer.
      def everything
        cache = @repository.backend.cache
        statistics = Larder::Sessions::Statistics.new(@repository)
        statistics.for(0) # makes the secret of handles
        keys = cache.each_key.grep_v(%r{\A(?:n/|counting|counted)}n)
        users = keys.filter_map { |key| key.delete_prefix("u/User/") if key.start_with?("u/") }
        { figures: statistics.stats.slice(:sessions, :signed_in, :anonymous), pinned: cache.stats[:pinned_bytes],
          items: keys.to_h { |key| [key, [cache.get(key), cache.ttl(key)]] },
          users: users.to_h { |user| [user, [statistics.logged_in?(user), statistics.for(user).map(&:to_h)]] } }
      end

      # Without a diff of thousands of items. A TTL has become less by the time that the test takes.
      def assert_same_as(before)
        after = everything
        assert_equal before[:figures], after[:figures]
        assert_in_delta before[:pinned], after[:pinned], 200 + (before[:pinned] / 20), "pins cost what segments take"
        assert_empty before[:users].reject { |user, said| after[:users][user] == said }.keys
        assert_equal before[:items].size, after[:items].size
        different = before[:items].reject do |key, (value, ttl)|
          now, left = after[:items][key]
          now == value && (ttl == left || (left && ttl.between?(left, left + 60)))
        end
        assert_empty different.keys
      end
    end
  end
end
