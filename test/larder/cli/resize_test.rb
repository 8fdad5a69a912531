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

      test "with --keep what must be kept must fit" do
        400.times { |i| cache.set("k#{i}", "v" * 4000, pin: true) }
        cache.close
        assert_equal 1, refused(/1\.0 MiB have no room for what .* must keep; name a larger SIZE/,
                                "resize", file, "1MB", "--keep")
        assert_equal "v" * 4000, open_cache.get("k399")
      end

      test "sessions are not emptied, and can be kept" do
        repository = Rack::Session::Larder.new(->(_env) { [200, {}, []] }, { file: file, size: SIZE }).repository
        assert repository.begin(Digest::SHA256.digest("a"), { "user_id" => 1 })
        assert_equal 1, refused(/holds an application's sessions.*--keep keeps them/, "resize", file, "16MB")
        repository.backend.cache.close
        done("resize", file, "16MB", "--keep")
        assert_equal 1, JSON.parse(done("sessions", "--file", file, "--json"))["signed_in"]
      end
    end
  end
end
