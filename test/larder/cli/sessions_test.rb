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
        figures = json("sessions")
        assert_equal [9, 6, 3, 9, 9, 9, 9, 0],
                     figures.values_at(*%w[sessions signed_in anonymous active_1m active_5m active_1h active_1d
                                           evictions])
        assert_equal [path_of(FILE), 2_592_000, 86_400, 7_776_000, nil],
                     figures.values_at(*%w[file idle_timeout anonymous_timeout max_lifetime backed_by])
        assert_equal Larder::Sessions::Statistics.new(@repository).stats.keys, figures.keys[1..11].map(&:to_sym)
      end

      test "it needs nothing but the standard library and Larder" do
        application
        enter("a", 1)
        out = done("sessions", "user", "1", ruby: ["-w", "--disable-gems"])
        assert_match(/\A1 is signed in/, out)
        loaded, = Open3.capture2(Command::PLAIN, RbConfig.ruby, "--disable-gems", "-I#{LIB}", "-rlarder/cli", "-e",
                                 "Larder::CLI.run(%w[sessions]); puts $LOADED_FEATURES", chdir: directory)
        assert_match(%r{^1 session|/larder/cli\.rb$}, loaded)
        assert_no_match(%r{/(?:active_support|rails|rack)\b}, loaded)
      end

      test "large numbers keep their columns" do
        application
        minute = @repository.now / 60
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
        finding = answer["findings"].find { |one| one["check"] == "sign_ins" }
        assert_match(/9\d % of its room for signed-in sessions is taken/, finding["what"])
        assert_match(/\Alarder resize --keep \S+ 2MB /, finding["mend"])
      end

      test "active counts as the application does" do
        application
        3.times { |i| enter("u#{i}", i) }
        @repository.begin(key("a"), { "cart" => 1 })
        assert_equal "4 sessions used in the last 5 minutes: 3 signed in, 1 anonymous\n", done("sessions", "active")
        assert_equal "3 signed-in sessions used in the last 2 hours\n",
                     done("sessions", "active", "--last=2h", "--signed-in")
        assert_equal "1 anonymous session used in the last 30 days\n",
                     done("sessions", "active", "--last", "30d", "--anonymous")
        assert_equal({ "last" => 300, "active" => 4, "signed_in" => 3, "anonymous" => 1 }, json("sessions", "active"))
        assert_equal({ "last" => 60, "anonymous" => 1 }, json("sessions", "active", "--last", "1m", "--anonymous"))
      end

      test "online tells who was here of late" do
        application
        assert_equal "Nobody who is signed in was here in the last 5 minutes.\n", done("sessions", "online")
        enter("a", 42)
        @repository.begin(key("b"), { "warden.user.admin.key" => [[7], "salt"] })
        @repository.begin(key("c"), { "cart" => 1 })
        assert_match(/\AAdmin\/7  a moment ago\nUser\/42  a moment ago\n\z/, done("sessions", "online"))
        found = json("sessions", "online", "--last", "2h", "--limit=1")
        assert_equal [7200, 1], [found["last"], found["users"].size]
        assert_equal Larder::Sessions::Statistics.new(@repository).last_seen(found["users"][0]["user"]).utc.iso8601,
                     found["users"][0]["used_at"]
        assert_equal 2, refused(/limit: 0 is no number/, "sessions", "online", "--limit", "0")
      end

      test "clear-anonymous ends the sessions of nobody" do
        application
        enter("a", 42)
        2.times { |i| @repository.begin(key("c#{i}"), { "cart" => 1 }) }
        assert_equal "2 anonymous sessions ended.\n", done("sessions", "clear-anonymous")
        assert_equal({ "ended" => 0, "copies_in" => nil }, json("sessions", "clear-anonymous"))
        assert @repository.find(key("a"))
      end

      test "user tells where somebody is signed in" do
        application
        %w[a b].each { |name| enter(name, 42) }
        text = done("sessions", "user", "42")
        assert_match(/\A42 is signed in, last seen (?:a moment|\d+ minutes?) ago, \d{4}-\d\d-\d\d \d\d:\d\d\.$/, text)
        assert_match(/^  handle +began +used$/, text)
        handles = Larder::Sessions::Statistics.new(@repository).for(42).map(&:handle)
        assert_equal handles, text.scan(/^  (\S+\.\h{32})  \d{4}-\d\d-\d\d \d\d:\d\d  /).flatten
        found = json("sessions", "user", "42")
        assert_equal [true, handles], [found["logged_in"], found["sessions"].map { |session| session["handle"] }]
        assert_equal Larder::Sessions::Statistics.new(@repository).last_seen(42).utc.iso8601, found["last_seen"]
      end

      test "user tells of somebody who is signed out, and of nobody" do
        application
        enter("a", 42)
        @repository.end(key("a"))
        assert_match(/\A42 is not signed in, last seen .* ago/, done("sessions", "user", "42"))
        assert_equal "43 is not signed in, and was not seen lately.\n", done("sessions", "user", "43")
        assert_equal({ "user" => "43", "logged_in" => false, "last_seen" => nil, "sessions" => [] },
                     json("sessions", "user", "43"))
        assert_equal 2, refused(/"" is no user/, "sessions", "user", "")
      end

      test "users may have any name, in any locale" do
        application
        @repository.begin(key("a"), { "cart" => 1 }, bound: ["User/zoë%2F7"])
        @repository.begin(key("b"), { "cart" => 1 }, bound: ["User/-5"])
        @repository.begin(key("c"), { "warden.user.admin.key" => [[7], "salt"], "user_id" => 42 })
        [{ "LC_ALL" => "C" }, { "LC_ALL" => "C.UTF-8" }].each do |env|
          assert json("sessions", "user", "zoë/7", env: env)["logged_in"], env
        end
        assert_match(/\A-5 is signed in/, done("sessions", "user", "--", "-5"))
        %w[42 User/42 Admin/7].each do |user|
          assert_equal %w[User/42 Admin/7], json("sessions", "user", user)["sessions"].sole["users"]
        end
        assert_equal "1 session of Admin/7 ended.\n", done("sessions", "logout", "Admin/7")
        refute json("sessions", "user", "42")["logged_in"]
        assert_equal "a\\x1B[31mb is not signed in, and was not seen lately.\n", done("sessions", "user", "a\e[31mb")
      end

      test "revoke ends the session that a handle names, and no other" do
        application
        %w[a b].each { |name| enter(name, 42) }
        slow = @repository.find(key("a"))
        handle = json("sessions", "user", "42")["sessions"].last["handle"]
        assert_equal "The session has ended.\n", done("sessions", "revoke", handle)
        assert_equal 1, %w[a b].count { |name| @repository.find(key(name)) }
        assert_equal 1, refused(/no session has this handle/, "sessions", "revoke", handle)
        assert_equal 1, refused(/no session has this handle/, "sessions", "revoke", "nonsense")
        out, _, code = larder("sessions", "revoke", handle, "--json")
        assert_equal [1, { "revoked" => false, "copies_in" => nil }], [code, JSON.parse(out)]
        rest = json("sessions", "user", "42")["sessions"].sole["handle"]
        assert_equal({ "revoked" => true, "copies_in" => nil }, json("sessions", "revoke", rest))
        refute @repository.commit(slow, { "user_id" => 42, "late" => 1 })
      end

      test "logout ends a user's sessions, but one" do
        application
        %w[a b c].each { |name| enter(name, 42) }
        enter("other", 1)
        kept = json("sessions", "user", "42")["sessions"].first["handle"]
        assert_equal "2 sessions of 42 ended.\n", done("sessions", "logout", "42", "--except", kept)
        assert_equal "42 was not signed in anywhere else.\n", done("sessions", "logout", "42", "--except", kept)
        assert_equal 2, refused(/oops is no handle of a session of 42/, *%w[sessions logout 42 --except oops])
        assert_equal({ "user" => "42", "ended" => 1, "copies_in" => nil }, json("sessions", "logout", "42"))
        assert_equal "42 was not signed in.\n", done("sessions", "logout", "42")
        assert @repository.find(key("other"))
      end

      test "logout of everybody asks in a terminal, and elsewhere wants to be told" do
        application
        3.times { |i| enter("u#{i}", i) }
        @repository.begin(key("cart"), { "cart" => 1 })
        assert_equal 2, refused(/elsewhere give --yes/, "sessions", "logout", "--all", stdin: "y\n")
        ["n\n", "\n", "\x04"].each do |keys|
          text, code = in_terminal("sessions", "logout", "--all") do |screen|
            assert screen.shows?(%r{This ends 3 sessions in .*Go on\? \[y/N\]}m)
            screen.type(keys)
          end
          assert_match(/nobody was logged out/, text)
          assert_equal 1, code
        end
        text, code = in_terminal("sessions", "logout", "--all") do |screen|
          assert screen.shows?(/Go on/)
          screen.type("y\n")
        end
        assert_match(/3 sessions ended\. Nobody is signed in who was before\./, text)
        assert_equal 0, code
        assert_equal [0, 1], Larder::Sessions::Statistics.new(@repository).stats.values_at(:signed_in, :anonymous)
        enter("new", 1)
        assert_equal({ "ended" => 1, "copies_in" => nil }, json("sessions", "logout", "--all", "--yes"))
      end

      test "recount counts anew" do
        application
        2.times { |i| enter("u#{i}", i) }
        cache.each_key(prefix: "n/").to_a.each { |name| cache.delete(name) }
        assert_equal 0, json("sessions")["sessions"]
        assert_equal "Counted anew: 2 sessions, 2 signed in, 0 anonymous.\n", done("sessions", "recount")
        assert_equal({ "sessions" => 2, "signed_in" => 2, "anonymous" => 0 }, json("sessions", "recount"))
      end

      test "figures are right that a killed process left wrong" do
        application
        enter("a", 1)
        pid = fork do
          @repository.index.activity.define_singleton_method(:moved) { |*_records| Process.kill(:KILL, Process.pid) }
          enter("b", 2)
        end
        Process.wait(pid)
        assert_equal 2, json("sessions")["sessions"]
      end

      test "watch shows the figures again until Ctrl-C" do
        application
        enter("a", 1)
        text, code = in_terminal("sessions", "--watch") do |screen|
          assert screen.shows?(/alive +1\b/)
          enter("b", 2)
          assert screen.shows?(/alive +2\b/)
          screen.type("\x03")
        end
        assert_match(/\A\e\[2J\e\[H.*Sessions in #{FILE}, \d\d:\d\d:\d\d/, text)
        assert_equal 0, code
        assert_no_match(/\.rb:\d+/, text)
      end

      test "watched by a program it answers a line each time" do
        application
        reader, writer = IO.pipe
        pid = Process.spawn(Command::PLAIN, RbConfig.ruby, Command::PROGRAM, "sessions", "--watch", "--json",
                            chdir: directory, out: writer)
        writer.close
        lines = 2.times.map { JSON.parse(reader.gets) }
        Process.kill(:INT, pid)
        assert_equal 0, wait_for(pid).exitstatus
        assert_equal([0, 0], lines.map { |line| line["sessions"] })
      ensure
        reader&.close
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
        assert_equal 1, refused(/there is no file #{FILE} in #{directory}\. .*--file or \$LARDER_SESSIONS/, "sessions")
        named = { "LARDER_SESSIONS" => path_of("elsewhere/s.larder") }
        assert_equal 1, json("sessions", env: named)["sessions"]
        assert_equal 1, json("sessions", "--file=elsewhere/s.larder")["sessions"]
        assert_equal 1, refused(%r{there is no file /no/where\. }, "sessions", "--file", "/no/where", env: named)
      end

      test "the environment says whose file it is, and where there is none, whose there are" do
        application(file: path_of("storage/larder/production/sessions.larder"))
        enter("a", 1)
        told = %r{no file #{FILE} in .* There is storage/larder/production/sessions\.larder: set \$RAILS_ENV}
        assert_equal 1, refused(told, "sessions")
        [{ "RAILS_ENV" => "production", "RACK_ENV" => "test" }, { "RACK_ENV" => "production" }].each do |env|
          assert_equal 1, json("sessions", env: env)["sessions"]
        end
      end

      test "a file that all environments share is used where they have none of their own" do
        application(file: path_of("storage/larder/sessions.larder"))
        enter("a", 1)
        out, err, = larder("sessions", env: { "RACK_ENV" => "production" })
        assert_match(%r{\ASessions in storage/larder/sessions\.larder$}, out)
        assert_match(%r{\Alarder: storage/larder/sessions\.larder is used in all environments\. .*\n\z}, err)
        system(err[/mkdir.*/], chdir: directory, exception: true)
        out = done("sessions", env: { "RACK_ENV" => "production" })
        assert_match(%r{\ASessions in storage/larder/production/sessions\.larder$}, out)
        assert_match(/signed in +1\b/, out)
      end

      test "no file is made, and what is no file of sessions is left alone" do
        assert_equal 1, refused(/there is no file/, "sessions")
        assert_equal 1, refused(/there is no file/, "sessions", "logout", "42")
        assert_equal 1, refused(/there is no file/, "sessions", "--file", "deep/none.larder")
        assert_empty Dir.children(directory)
        File.write(path_of("text"), "Dear diary", perm: 0o600)
        assert_equal 1, refused(/text: the file is not a Larder cache/, "sessions", "--file", "text")
        Cache.open(path_of("cache.larder"), size: 1 << 20) { |cache| cache.set("n/m1", "another's") }
        assert_equal 1, refused(/cache\.larder tells nothing about/, *%w[sessions recount --file cache.larder])
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
        ["", "logout 42", "recount", "user 42"].each do |words|
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
        assert_equal 1, refused(/belongs to nobody.*sudo -u nobody larder sessions/, "sessions")
      end

      test "it takes for over what the application does" do
        application(idle_timeout: nil, anonymous_timeout: nil)
        past = @repository.now - 7200
        @repository.define_singleton_method(:now) { past }
        enter("a", 42)
        assert json("sessions", "user", "42")["logged_in"]
        application(idle_timeout: 3600)
        assert_match(/\A42 is not signed in/, done("sessions", "user", "42"))
        assert_equal 0, json("sessions")["sessions"]
        assert_match(/A session ends after 1 hour without use\./, done("sessions"))
      end

      test "what it ends does not come back from a store behind the file, and it says what is left there" do
        application(backed_by: [:file_store, path_of("store")])
        %w[a b c].each { |name| enter(name, 42) }
        enter("d", 1)
        cache.delete("s/#{key("c")}") # the file has lost it
        handle = json("sessions", "user", "42")["sessions"].first["handle"]
        assert_match(/^Copies are left in ActiveSupport::Cache::FileStore\./, done("sessions", "revoke", handle))
        assert_match(/\A1 session of 42 ended\.\n\nCopies are left/, done("sessions", "logout", "42"))
        out = json("sessions", "logout", "--all", "--yes")
        assert_equal({ "ended" => 1, "copies_in" => "ActiveSupport::Cache::FileStore" }, out)
        assert_equal 4, Dir[path_of("store/**/*")].count { |path| path.include?("session%2F732f") && File.file?(path) }
        assert_empty(%w[a b c d].filter_map { |name| @repository.find(key(name)) })
        assert_match(/Not known here: sessions that this file has lost/, done("sessions", "user", "42"))
      end

      test "the application goes on meanwhile, and nothing is lost or counted twice" do
        application
        20.times { |i| enter("old#{i}", "old#{i}") }
        reader, writer = IO.pipe # is readable once all have ended
        pids = 2.times.map do |worker|
          fork do
            reader.close
            200.times { |i| enter("#{worker}/#{i}", "#{worker}/#{i}") && sleep(0.005) }
            @repository.index.leave
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
        assert_equal left, json("sessions", "recount")["signed_in"]
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
