# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "json"
require "support/command"
require "rack/session/larder"

module Larder
  module CLI
    # `larder sessions` in processes of its own, on the file of an application that has it open.
    class SessionsTest < ActiveSupport::TestCase
      include TemporaryDirectory
      include Processes
      include Command

      FILE = "storage/larder/development/sessions.larder"
      LIB = File.expand_path("../../../lib", __dir__)

      teardown { @repository&.backend&.cache&.close }

      test "the figures are a table for people and one line for machines" do
        application(max_lifetime: 90 * 86_400)
        6.times { |i| enter("u#{i}", i) }
        3.times { |i| @repository.begin(key("a#{i}"), { "cart" => i }) }
        assert_equal <<~TEXT, done("sessions").sub(/^    \d.* of/, "    N of")
          Sessions in storage/larder/development/sessions.larder

            alive                   9
              signed in             6    67 %
              anonymous             3    33 %

            active in the last
              minute                9
              5 minutes             9
              hour                  9
              24 hours              9

            room of those signed in
              [#-----------------------------] <1 %
              N of 2.6 MiB

            evicted                 0

          A session ends after 30 days without use (anonymous: 1 day),
          and 90 days after it began, used or not.
        TEXT
        figures = json("sessions", "stat")
        assert_equal [9, 6, 3, 9, 9, 9, 9, 0],
                     figures.values_at(*%w[sessions signed_in anonymous active_1m active_5m active_1h active_1d
                                           evictions])
        assert_equal [path_of(FILE), 2_592_000, 86_400, 7_776_000, nil],
                     figures.values_at(*%w[file idle_timeout anonymous_timeout max_lifetime backed_by])
        assert_equal Larder::Sessions::Statistics.new(@repository).stats.keys, figures.keys[1..11].map(&:to_sym)
      end

      test "a session without an idle_timeout: does not end at once" do
        application(idle_timeout: nil, max_lifetime: 90 * 86_400)
        enter("a", 1)
        assert_match(/^A session may be unused for ever \(anonymous: 1 day\),\nand ends 90 days after it began/,
                     done("sessions"))
      end

      test "it needs nothing but the standard library and Larder" do
        application
        enter("a", 1)
        assert_match(/^    signed in +1 +100 %$/, done("sessions", ruby: ["-w", "--disable-gems"]))
        loaded, = Open3.capture2(Command::PLAIN, RbConfig.ruby, "--disable-gems", "-I#{LIB}", "-rlarder/cli", "-e",
                                 "Larder::CLI.run(%w[sessions]); puts $LOADED_FEATURES", chdir: directory)
        assert_match(%r{^1 session|/larder/cli\.rb$}, loaded)
        assert_no_match(%r{/(?:active_support|rails|rack)\b}, loaded)
      end

      test "large numbers keep their columns" do
        application
        minute = @repository.now / 60
        cache.set("counted", "")
        { "m" => 60, "h" => 3600, "d" => 86_400 }.each do |letter, step|
          cache.set("n/#{letter}#{minute * 60 / step}", ((1_234_567_890 << 32) + 1_000_000_000).to_s)
        end
        lines = done("sessions").lines(chomp: true)
        assert_includes lines, "  alive             2,234,567,890"
        assert_includes lines, "    signed in       1,234,567,890    55 %"
        assert_includes lines, "    24 hours        2,234,567,890"
        numbers = lines.grep(/\A  +\w.*\d,\d{3}/)
        assert_equal [33], numbers.map { |line| line[/\A.*\d,\d{3}/].size }.uniq
        assert_operator lines.map(&:size).max, :<=, 80
      end

      test "a file that is nearly full says so" do
        application(size: 1 << 20)
        i = -1
        assert_raises(::Larder::Sessions::NoRoomError) do
          @repository.begin(key(i.to_s), { "user_id" => i, "data" => "x" * 400 }) while i += 1
        end
        text = done("sessions")
        assert_match(/^    \[#{"#" * 27}.{3}\] >?\d\d %$/, text)
        assert_match(/^Nearly full: from 90 % on sign-ins are refused.*^  larder resize --keep \S+ 2MB$/m, text)
        answer = JSON.parse(larder("doctor", FILE, "--json").first)
        finding = answer["findings"].find { |one| one["check"] == "pinned" }
        assert_match(/9\d % of the room for signed-in sessions is used/, finding["what"])
        assert_match(/\Alarder resize --keep \S+ 2MB /, finding["fix"])
      end

      test "logout ends a user's sessions, also for a request that is using one" do
        application
        %w[a b].each { |name| enter(name, 42) }
        enter("other", 1)
        slow = @repository.find(key("a"))
        assert_equal "2 sessions of 42 ended.\n", done("sessions", "logout", "42")
        refute @repository.commit(slow, { "user_id" => 42, "late" => 1 })
        assert_equal "42 was not signed in.\n", done("sessions", "logout", "42")
        assert_equal({ "user" => "1", "ended" => 1, "copies_in" => nil }, json("sessions", "logout", "1"))
        assert_equal 2, refused(/"" is no user/, "sessions", "logout", "")
      end

      test "users may have any name, in any locale" do
        application
        [{ "LC_ALL" => "C" }, { "LC_ALL" => "C.UTF-8" }].each do |env|
          @repository.begin(key(env.values.join), { "cart" => 1 }, bound: ["User/zoë%2F7"])
          assert_equal 1, json("sessions", "logout", "zoë/7", env: env)["ended"], env
        end
        @repository.begin(key("b"), { "cart" => 1 }, bound: ["User/-5"])
        assert_equal "1 session of -5 ended.\n", done("sessions", "logout", "--", "-5")
        @repository.begin(key("c"), { "warden.user.admin.key" => [[7], "salt"], "user_id" => 42 })
        assert_equal "1 session of Admin/7 ended.\n", done("sessions", "logout", "Admin/7")
        refute Larder::Sessions::Statistics.new(@repository).logged_in?(42)
        assert_equal "a\\x1B[31mb was not signed in.\n", done("sessions", "logout", "a\e[31mb")
      end

      {
        "logout --all"    => ["3 signed-in sessions", "All users have to sign in again.", [0, 2]],
        "clear-anonymous" => ["2 anonymous sessions", "Their contents are lost, such as carts and forms.", [3, 0]]
      }.each do |command, (what, loss, left)|
        test "#{command} asks in a terminal, and elsewhere needs --yes" do
          application
          3.times { |i| enter("u#{i}", i) }
          2.times { |i| @repository.begin(key("cart#{i}"), { "cart" => i }) }
          words = ["sessions", *command.split]
          assert_equal 2, refused(/#{command} asks in a terminal.*elsewhere give --yes/, *words, stdin: "y\n")
          ["n\n", "\n", "\x04"].each do |keys|
            text, code = in_terminal(*words) do |screen|
              assert screen.shows?(%r{This ends #{what} in .*#{loss} Go on\? \[y/N\]}m)
              screen.type(keys)
            end
            assert_match(/no session was ended/, text)
            assert_equal 1, code
          end
          assert_equal [3, 2], alive
          text, code = in_terminal(*words) do |screen|
            assert screen.shows?(/Go on/)
            screen.type("y\n")
          end
          assert_match(/\d (?:anonymous )?sessions ended\./, text)
          assert_equal [0, left], [code, alive]
          enter("new", 1)
          @repository.begin(key("new cart"), { "cart" => 1 })
          assert_equal 1, json(*words, "--yes")["ended"]
        end
      end

      test "figures are right an hour after a killed process left them wrong" do
        application
        enter("a", 1)
        assert_equal 1, json("sessions")["sessions"]
        pid = fork do
          @repository.index.activity.define_singleton_method(:moved) { |*_records| Process.kill(:KILL, Process.pid) }
          enter("b", 2)
        end
        Process.wait(pid)
        assert_equal 1, json("sessions")["sessions"]
        cache.delete("counted")
        assert_equal 2, json("sessions")["sessions"]
      end

      test "there are no colours where none are wanted" do
        application
        coloured, = in_terminal("sessions", &:to_its_end)
        plain, = in_terminal("sessions", env: { "NO_COLOR" => "1" }, &:to_its_end)
        assert_match(/\A\e\[1mSessions in/, coloured)
        assert_no_match(/\e/, plain)
        assert_no_match(/\e/, done("sessions"))
      end

      test "the file is named by an option, a variable, or is where it usually is" do
        application(file: path_of("elsewhere/s.larder"))
        enter("a", 1)
        assert_equal 1,
refused(/there is no file #{FILE} in #{directory} \(the default of .*--file or \$LARDER_SESSIONS/, "sessions")
        named = { "LARDER_SESSIONS" => path_of("elsewhere/s.larder") }
        assert_equal 1, json("sessions", env: named)["sessions"]
        assert_equal 1, json("sessions", "--file=elsewhere/s.larder")["sessions"]
        assert_equal 1, refused(%r{there is no file /no/where\. }, "sessions", "--file", "/no/where", env: named)
      end

      test "the environment names the file, and one without a file lists those of others" do
        application(file: path_of("storage/larder/production/sessions.larder"))
        enter("a", 1)
        told = %r{no file #{FILE} in .* There is storage/larder/production/sessions\.larder\. }
        assert_equal 1, refused(told, "sessions", env: { "RAILS_ENV" => "development" })
        [{ "RAILS_ENV" => "production", "RACK_ENV" => "test" }, { "RACK_ENV" => "production" }].each do |env|
          assert_equal 1, json("sessions", env: env)["sessions"]
        end
      end

      test "no file is made, and what is no file of sessions is left alone" do
        assert_equal 1, refused(/there is no file/, "sessions")
        assert_equal 1, refused(/there is no file/, "sessions", "logout", "42")
        assert_equal 1, refused(/there is no file/, "sessions", "--file", "deep/none.larder")
        assert_empty Dir.children(directory)
        File.write(path_of("text"), "Dear diary", perm: 0o600)
        assert_equal 1, refused(/text: the file is not a Larder cache/, "sessions", "--file", "text")
        Cache.open(path_of("cache.larder"), size: 1 << 20) { |cache| cache.set("n/m1", "another's") }
        assert_equal 1, refused(/cache\.larder tells nothing about/, *%w[sessions logout 42 --file cache.larder])
        assert_equal 1, refused(/directory/, "sessions", "--file", ".")
        assert_equal %w[cache.larder cache.larder.lock text], Dir.children(directory).sort
        assert_equal "Dear diary", File.read(path_of("text"))
        Cache.open(path_of("cache.larder")) { |cache| assert_equal "another's", cache.get("n/m1") }
      end

      test "a file of another version is left alone" do
        application
        cache.close
        File.open(path_of(FILE), "r+b") { |file| [0, 4096].each { |at| file.pwrite("\xFF" * 8, at + 8) } }
        before = File.binread(path_of(FILE))
        ["", "logout 42", "clear-anonymous --yes"].each do |words|
          assert_equal 1, refused(/it is damaged or of another version: the cache cannot be used any more/,
                                  "sessions", *words.split)
        end
        assert_equal before, File.binread(path_of(FILE))
      end

      test "who may not open the file is told who may" do
        skip "needs root, to give a file away" unless Process.uid.zero?
        application
        cache.close
        File.chown(65_534, nil, path_of(FILE))
        assert_equal 1, refused(/belongs to nobody.*-u nobody.* larder sessions/, "sessions")
      end

      test "it takes for over what the application does" do
        application(idle_timeout: nil, anonymous_timeout: nil)
        past = @repository.now - 7200
        @repository.define_singleton_method(:now) { past }
        enter("a", 42)
        assert_equal 1, json("sessions")["sessions"]
        application(idle_timeout: 3600)
        assert_equal 0, json("sessions", "logout", "42")["ended"]
        assert_equal 0, json("sessions")["sessions"]
        assert_match(/A session ends after 1 hour without use\./, done("sessions"))
      end

      test "what it ends does not come back from a store behind the file, and it says what is left there" do
        application(backed_by: [:file_store, path_of("store")])
        %w[a b c].each { |name| enter(name, 42) }
        enter("d", 1)
        cache.delete("s/#{key("c")}") # the file has lost it
        assert_match(/\A2 sessions of 42 ended\.\n\nCopies are left in ActiveSupport::Cache::FileStore\./,
                     done("sessions", "logout", "42"))
        out = json("sessions", "logout", "--all", "--yes")
        assert_equal({ "ended" => 1, "copies_in" => "ActiveSupport::Cache::FileStore" }, out)
        assert_equal 4, Dir[path_of("store/**/*")].count { |path| path.include?("session%2F732f") && File.file?(path) }
        assert_empty(%w[a b c d].filter_map { |name| @repository.find(key(name)) })
      end

      test "the application goes on meanwhile, and nothing is lost or counted twice" do
        application
        20.times { |i| enter("old#{i}", "old#{i}") }
        reader, writer = IO.pipe # is readable once all have ended
        pids = 2.times.map do |worker|
          fork do
            reader.close
            200.times { |i| enter("#{worker}/#{i}", "#{worker}/#{i}") && sleep(0.005) }
            exit!(0)
          end
        end
        writer.close
        logouts = 20.times.map { |i| json("sessions", "logout", "old#{i}")["ended"] unless reader.wait_readable(0) }
        pids.each { |pid| assert_predicate wait_for(pid), :success? }
        assert_operator logouts.compact.size, :>, 0
        assert_equal [1], logouts.compact.uniq
        left = 420 - logouts.compact.size
        assert_equal [left, left], [json("sessions")["signed_in"], cache.each_key(prefix: "s/").count]
        Larder::Sessions::Statistics.new(@repository).recount
        assert_equal left, json("sessions")["signed_in"]
        assert_equal 0, cache.verify[:problems]
      ensure
        reader&.close
      end

      private

      def application(**options)
        options = { file: path_of(FILE), size: 4 << 20, **options }
        @repository = Rack::Session::Larder.new(->(_env) { [200, {}, []] }, options).repository
        @repository.find("a" * 32) # as a request does
      end

      # Signed-in and anonymous sessions.
      def alive
        Larder::Sessions::Statistics.new(@repository).stats.values_at(:signed_in, :anonymous)
      end

      def cache
        @repository.backend.cache
      end

      def json(*arguments, **settings)
        lines = done(*arguments, "--json", **settings).lines
        assert_equal 1, lines.size
        JSON.parse(lines.first)
      end

      def key(name)
        Digest::SHA256.digest(name)
      end

      def enter(name, user)
        assert @repository.begin(key(name), { "user_id" => user })
      end
    end
  end
end
