# frozen_string_literal: true

require "support/dashboard_case"
require "active_support/cache/larder_store"
require "larder/metrics"
require "socket"

module Larder
  class Dashboard
    # Which cache is shown, and what is shown where there is none.
    class SourceTest < DashboardCase
      def problem(path = "")
        get("/larder/#{path}")
        assert_match(/class="card problem/, last_response.body)
        text_of(last_response.body)
      end

      test "a store, a cache and a path are shown, without a read of the application" do
        cache.set("shown", "1")
        store = ActiveSupport::Cache::LarderStore.new(path_of)
        before = cache.stats.slice(:hits, :misses)
        [store, cache, path_of, Pathname(path_of)].each do |given|
          use(cache: given)
          assert_match(/shown/, page("keys"))
          page
          page("entry", key: "shown")
        end
        assert_equal before, cache.stats.slice(:hits, :misses)
      end

      test "another store is named, with the remedy" do
        use(cache: ActiveSupport::Cache::MemoryStore.new)
        text = problem
        assert_match(/ActiveSupport::Cache::MemoryStore, not a Larder store.*config\.cache_store = :larder_store/, text)
        assert_equal 200, last_response.status
      end

      test "a file that is not there is not made, also by a store" do
        absent = path_of("absent/c.larder")
        [absent, ActiveSupport::Cache::LarderStore.new(absent)].each do |given|
          use(cache: given)
          ["", "keys", "entry?key=a", "clear", "delete?key=a"].each do |path|
            assert_match(/There is no file yet.*#{absent}/, problem(path))
            assert_equal 200, last_response.status
          end
        end
        refute_path_exists File.dirname(absent)
      end

      test "the reason for having no file has the words of the health check" do
        [path_of("none.larder"), Cache.open(path_of("large.larder"), size: 900 << 30, lazy: true)].each do |given|
          use(cache: given)
          report = Metrics::Health.check(given)
          said = report.note ? report.note.delete_prefix("not used yet: ") : report.to_s
          assert_includes problem, said.sub(/[\d.]+ MiB are free/, "")[0, 100]
        end
      end

      test "a file that has no room is not promised" do
        use(cache: ActiveSupport::Cache::LarderStore.new(path_of("large.larder"), size: "900GB"))
        assert_match(/The cache has no file.*takes 921600\.0 MiB/, problem)
        assert_equal 503, last_response.status
      end

      test "a file that appears, disappears and is replaced is followed" do
        file = path_of("later.larder")
        use(cache: file)
        problem
        Cache.open(file, size: 1 << 20) { |other| other.set("first", "1") }
        assert_match(/first/, page("keys"))
        File.delete(file)
        problem
        Cache.open(file, size: 1 << 20) { |other| other.set("second", "1") }
        assert_match(/second/, page("keys"))
      end

      test "a foreign file, a directory and a damaged file are explained, and stay as they are" do
        foreign, damaged = path_of("foreign"), path_of("damaged.larder")
        File.write(foreign, "not a cache" * 1000)
        Cache.open(damaged, size: 1 << 20) { |other| other.set("a", "1") }
        File.open(damaged, "r+b") { |file| file.write("\xff" * 8192) }
        link = path_of("link.larder")
        File.symlink("nowhere", link)
        short = path_of("short.larder")
        File.binwrite(short, File.binread(path_of, 5000))
        [foreign, damaged, directory, link, short].each do |file|
          use(cache: file)
          before = (File.binread(file) if File.file?(file))
          assert_match(/cannot be opened.*larder doctor/, problem)
          assert_equal 503, last_response.status
          assert_equal before, File.binread(file) if before
        end
      end

      test "a pipe, a device, a socket and links in a circle are explained on every page, without waiting" do
        pipe, circle = path_of("pipe"), path_of("circle")
        File.mkfifo(pipe)
        File.symlink("circle", circle)
        socket = UNIXServer.new(path_of("socket"))
        { pipe => /is a fifo/, circle => /circle|symbolic links/, path_of("socket") => /is a socket/,
          "/dev/zero" => /is a device/ }.each do |file, words|
          [file, ActiveSupport::Cache::LarderStore.new(file, error_handler: nil)].each do |given|
            use(cache: given)
            ["", "keys", "entry?key=a", "clear", "delete?key=a", "computations"].each do |path|
              assert_match(words, problem(path))
              assert_equal 503, last_response.status, "#{file} #{path}"
            end
          end
        end
      ensure
        socket&.close
      end

      test "a file of another version of the format is explained, and stays as it is" do
        later = path_of("later.larder")
        Cache.open(later, size: 1 << 20) { |other| other.set("a", "1") }
        File.open(later, "r+b") { |file| [0, 4096].each { |at| file.pwrite("\xFF" * 8, at + 8) } }
        before = File.binread(later)
        use(cache: later)
        ["", "keys", "entry?key=a", "clear"].each do |path|
          assert_match(/cannot be opened.*version.*larder doctor/, problem(path))
          assert_equal 503, last_response.status
        end
        assert_equal before, File.binread(later)
      end

      test "a file of sessions is shown, and cannot be emptied" do
        sessions = ::Larder::Sessions.repository(file: path_of("sessions"), size: 1 << 20, ephemeral: true)
        sessions.index.announce # as the middleware does
        sessions.begin("k" * 32, { "user_id" => 7 })
        use(cache: path_of("sessions"))
        ["", "keys", "computations", "sessions"].each { |path| page(path) }
        ["clear", "clear?by=all", "delete?key=a"].each do |path|
          assert_match(/holds sessions/, problem(path), path)
          assert_equal 403, last_response.status
        end
      end

      test "of a file of sessions that is full the commands keep them" do
        sessions = ::Larder::Sessions.repository(file: path_of("sessions"), size: 1 << 20, ephemeral: true)
        sessions.index.announce
        number = 0
        logged do
          assert_raises(::Larder::Sessions::NoRoomError) do
            loop { sessions.begin(format("%032d", number += 1), { "user_id" => number, "data" => "x" * 400 }) }
          end
        end
        use(cache: path_of("sessions"))
        text = text_of(page)
        assert_match(/room for signed-in sessions is used.* larder resize --keep #{path_of("sessions")} 2MB/, text)
        assert_no_match(/pin: true/, text)
      end

      test "a path with a null byte is refused at once" do
        error = assert_raises(ArgumentError) { Dashboard.new(cache: "a\0b") }
        assert_match(/\A:cache of Larder::Dashboard is "a\\u0000b"; it takes .* or the path of a file\z/, error.message)
      end

      test "a directory that is not one is explained" do
        use(cache: "#{path_of}/c.larder")
        assert_match(/The file cannot be seen.*test\.larder is a file, and no file can be in it/, problem)
        assert_equal 503, last_response.status
      end

      test "the file of another user is explained, with the command for that user" do
        skip "only root may give files away" unless Process.uid.zero?
        File.chown(65_534, nil, path_of)
        assert_match(/belongs to another user.*larder doctor/, problem)
        assert_equal 503, last_response.status
      end
    end
  end
end
