# frozen_string_literal: true

require "test_helper"
require "json"
require "support/command"
require "larder/cli"

module Larder
  module CLI
    # `larder stat` in processes of its own, on a file that this one has open.
    class StatTest < ActiveSupport::TestCase
      include TemporaryCaches
      include Processes
      include ::Command

      FILE = "storage/larder/development/cache.larder"

      def cache
        @cache ||= open_cache(FILE)
      end

      test "the figures are a table for people" do
        cache.set_multi({ "a" => "1", "b" => "2", "c" => "3" })
        cache.set("large", "x" * 900_000)
        3.times { cache.get("a") }
        cache.get("nobody")
        text = done("stat").sub(/the oldest: [\w ]+/, "the oldest: AGE").sub(/\d+ %( +\[)/, "N %\\1")
        assert_equal <<~TEXT, text
          Cache storage/larder/development/cache.larder

            hits           75 %   of 4 reads since the file was made

            full           N %   [###---------------------------] of 8.0 MiB
            items             4   the oldest: AGE
            stored            4
            evicted           0
            expired           0
            processes         1   #{Process.pid}

          No statistics by keyspace and time:
            no process has kept any (the store has statistics: false)
        TEXT
      end

      test "the figures are one line for machines" do
        cache.set("a", "1")
        figures = JSON.parse(done("stat", "--json"))
        assert_equal [path_of(FILE), 1, 0, 1, [Process.pid], nil],
                     figures.values_at("file", "items", "evictions", "processes", "pids", "hit_ratio")
        assert_equal cache.stats.keys.map(&:to_s), figures.keys - %w[file pids statistics statistics_problem]
        assert_equal [nil, CLI::Statistics::NONE], figures.values_at("statistics", "statistics_problem")
      end

      test "a file may have the name of a home directory that there is not" do
        Cache.open(path_of("~shop"), size: 8 << 20) { |cache| cache.set("a", "1") }
        assert_equal path_of("~shop"), JSON.parse(done("stat", "./~shop", "--json"))["file"]
        assert_equal path_of("~shop"), JSON.parse(done("stat", "~shop", "--json"))["file"]
        assert_includes done("delete", "a", "--file", "~shop"), "Deleted 1 of 1 key"
      end

      test "machines get names and keys as larder keys writes them" do
        Cache.open(path_of(FILE), size: 8 << 20, statistics: true) { |cache| cache.set("\xFF\n\u0085\u202E\\/1", "x") }
        shown = '\xFF\x0A\xC2\x85\xE2\x80\xAE\\\\'
        assert_equal [shown], JSON.parse(done("stat", "--json"))["statistics"]["keyspaces"].map { |each| each["name"] }
        assert_equal "#{shown}/1", JSON.parse(done("stat", "--top-keys", "--json")).dig("heavy", 0, "key")
        assert_includes done("stat", "--top-keys"), "#{shown}/1"
        assert_equal shown, JSON.parse(done("stat", "--json", "--keyspace", shown))["keyspace"]
      end

      test "keyspaces, times and keys come from the statistics" do
        counted
        assert_match(/^Keyspaces in the last hour\n  keyspace  share of reads.*\n  users     ######## 100 %  75 % /,
                     done("stat"))
        assert_match(/^  \d\d:\d\d      4   75 % ########-- .* 100 % users$/, done("stat", "--by", "minute"))
        assert_match(/^Keyspace users by minute\n/, done("stat", "--keyspace", "users"))
        assert_match(/^  \d+ \w+ \d\d:00      4   75 % /, done("stat", "--by=hour", "--keyspace=users"))
        assert_match(/^  users\/1      3     3B +\d/, done("stat", "--top-keys"))
      end

      test "all fields for machines are in the help" do
        counted
        help = done("stat", "--help")
        [[], %w[--by minute], %w[--top-keys], %w[--interval 100ms --count 1]].each do |words|
          fields = fields_of(JSON.parse(done("stat", "--json", *words))) - cache.stats.keys.map(&:to_s)
          assert_operator fields.size, :>, 3
          assert_empty fields.reject { |field| help.match?(/\b#{field}\b/) }, words.join(" ")
        end
      end

      test "views of the statistics need them" do
        cache.set("a", "1")
        [%w[--by minute], %w[--keyspace a], %w[--top-keys]].each do |words|
          assert_equal 1, refused(/no statistics of #{FILE}: no process has kept any/, "stat", *words)
        end
        File.write(path_of("#{FILE}.stats"), "a file of another program")
        assert_equal 1, refused(/no statistics of #{FILE}: .*cache\.larder\.stats/, "stat", "--top-keys")
        assert_match(/^  items .*\n\nNo statistics by keyspace and time:\n.*cache\.larder\.stats/m, done("stat"))
      end

      test "a line is written each time, until there are enough" do
        cache.set("a", "1")
        lines = done("stat", "--interval", "100ms", "--count", "2").lines
        assert_equal 3, lines.size
        assert_match(/^ +0 +0 +- +0 +0 +1 +<?\d+ %$/, lines.last)
        assert_equal [1, 1], done("stat", "--interval=100ms", "--count=2", "--json").lines.map { |line|
          JSON.parse(line)["items"]
        }
      end

      test "Ctrl-C ends it, and so does a reader that leaves" do
        cache
        text, code = in_terminal("stat", "--interval", "100ms") do |screen|
          assert screen.shows?(/hits.*0 .*0 /m)
          screen.type("\u0003")
        end
        assert_no_match(/larder:|stopped/, text)
        assert_equal 0, code
        status = Open3.pipeline([PLAIN, RbConfig.ruby, PROGRAM, "stat", "--interval", "100ms", { chdir: directory }],
                                "head -2", out: File::NULL, err: path_of("err")).first
        assert_predicate status, :success?
        assert_empty File.read(path_of("err"))
      end

      test "options that do not go together are refused" do
        { "--count 2" => /--count needs --interval/, "--interval 1s --by hour" => /choose one of --interval and --by/,
          "--top-keys --keyspace a" => /choose one of --top-keys and --keyspace/, "--by day" => /known: minute, hour/,
          "--interval soon" => /--interval soon must be a time/,
          "--interval 1s --count 0" => /--count 0 must be a number/ }
          .each { |words, message| assert_equal 2, refused(message, "stat", *words.split), words }
      end

      test "what is wrong with a file is shown where it is" do
        cache
        assert_no_match(/refused|damaged|emptied/, done("stat"))
        cache.set("k", "v" * 100)
        bytes = File.binread(path_of(FILE))
        File.open(path_of(FILE), "r+b") { |file| file.pwrite("w", bytes.index("v" * 100)) }
        assert_nil cache.get("k")
        assert_match(/^  damaged           1$/, done("stat"))
      end

      test "the file is the named one, the environment's variable's, or that of the Rails environment" do
        { "a" => {}, "b" => { "LARDER_PATH" => "b" }, "c" => { "LARDER_PATH" => "~/c", "HOME" => directory },
          "storage/larder/production/cache.larder" => { "RAILS_ENV" => "production" },
          "storage/larder/test/cache.larder" => { "RACK_ENV" => "test", "RAILS_ENV" => "" } }.each do |name, env|
          open_cache(name).set(name, "1")
          words = name == "a" ? ["a"] : []
          assert_equal path_of(name), JSON.parse(done("stat", "--json", *words, env: env))["file"]
        end
      end

      test "it makes nothing, and says where it looked" do
        assert_equal 1, refused(/no file #{FILE} in #{directory} \(the default of .* development\)\. Name/, "stat")
        assert_equal 1, refused(/no file nowhere/, "stat", "nowhere")
        File.write(path_of("other"), "no cache " * 10_000)
        assert_equal 1, refused(/other: the file is not a Larder cache/, "stat", "other")
        assert_equal ["other"], Dir.children(directory).grep_v(/\.lock/)
      end

      test "where there is no file it says why it looked there, and which files are near" do
        FileUtils.mkdir_p(path_of("storage/larder"))
        open_cache("storage/larder/production/cache.larder")
        open_cache("shop.larder")
        others = "There is storage/larder/production/cache.larder."
        wanted = "storage/larder/test/cache.larder"
        message = "no file #{wanted} in #{directory} (the default of the environment test). #{others} Name"
        assert_equal 1, refused(Regexp.new(Regexp.escape(message)), "stat", env: { "RAILS_ENV" => "test" })
        path = path_of("no.larder")
        message = "no file #{path} ($LARDER_PATH names it). Next to it there is #{path_of("shop.larder")}"
        assert_equal 1, refused(Regexp.new(Regexp.escape(message)), "stat", env: { "LARDER_PATH" => path })
        assert_equal 1, refused(/no file nowhere in #{directory}\. Next to it there is/, "stat", "nowhere")
        assert_equal 1, refused(/is a directory: name a file in it/, "stat", "storage/")
      end

      test "a directory that may not be searched is not one without the file" do
        skip "needs root" unless Process.euid.zero?
        Dir.mkdir(path_of("closed"), 0o700)
        File.chmod(0o755, directory)
        message = in_child do
          Process::UID.change_privilege(65_534)
          larder("stat", path_of("closed/c.larder")).values_at(1, 2)
        end
        assert_equal 1, message.last
        assert_match(/cannot see whether there is a file .*: #{path_of("closed")} belongs to root, and nobody, who/,
                     message.first)
      end

      test "root may run it on the application's file, which stays the application's" do
        skip "needs root" unless Process.euid.zero?
        path = path_of("app/c.larder")
        Dir.mkdir(path_of("app"))
        File.chown(65_534, nil, path_of("app"))
        Cache.open(path, size: 1 << 20) { |cache| cache.set("k", "v") }
        [["stat"], ["doctor"], ["clear", "--prefix", "none"], ["resize", "--keep"]].each do |command, *more|
          words = command == "resize" ? [*more, path, "2MB"] : [path, *more]
          out, err, code = larder(command, *words)
          assert_equal ["", 0], [err, code], "#{command} #{out}"
        end
        assert_equal [65_534] * 2, [path, "#{path}.lock"].map { |file| File.stat(file).uid }
        File.chmod(0o755, directory)
        assert_equal("v", in_child do
          Process::UID.change_privilege(65_534)
          Cache.open(path, create: false) { |cache| cache.get("k") }
        end)
      end

      test "it leaves a running cache as it is" do
        cache.set("k", "v", ttl: 100)
        before = cache.stats.except(:age, :oldest_age)
        done("stat")
        assert_equal before, cache.stats.except(:age, :oldest_age)
        assert_equal ["v", [Process.pid]], [cache.get("k"), cache.pids]
      end

      private

      def counted
        Cache.open(path_of(FILE), size: 8 << 20, statistics: true) do |cache|
          cache.get("users/1") || cache.set("users/1", "Ada")
          3.times { cache.get("users/1") }
        end
      end

      def fields_of(object)
        case object
        when Hash then object.keys + object.values.flat_map { |each| fields_of(each) }
        when Array then object.flat_map { |each| fields_of(each) }
        else []
        end.uniq
      end
    end
  end
end
