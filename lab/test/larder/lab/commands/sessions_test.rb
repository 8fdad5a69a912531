# frozen_string_literal: true

require "test_helper"
require "support/session_runs"

module Larder
  module Lab
    module Commands
      # Session stores for real, on real servers, from the command line to the report.
      class SessionsTest < ActiveSupport::TestCase
        include SessionRuns

        COMMAND = Commands::Sessions
        SMALL = %w[sessions --rounds 1 --seed 1 --seconds 0.01 --sessions 100].freeze
        LOCAL = %w[larder hash file cookie].freeze

        setup do
          skip "the gems of lab/gemfiles/sessions.gemfile are not installed" unless installed?("sessions")
        end

        slow_test "every store is measured, Larder twice, and no process and no file is left" do
          stores = LOCAL + served
          report, out = run_of("--only", stores.join(","), "--parts", "work")
          rows = [*stores, "larder (A/A)"]
          rows.each { |name| assert_match(/^  #{Regexp.escape(name)} +[\d.,]+ +[\d.]/, out) }
          blocks = events(report, "block")
          assert_equal rows.sort, blocks.map { |block| block["row"] }.uniq.sort
          assert_equal rows.size * 3, blocks.size
          blocks.each { |block| assert_operator block["seconds"], :>, block["without"] }
          assert_includes measures(report), "sessions/work/unchanged/larder"
          assert_match(/work of memcached +≥ 6 × +[\d.]+/, out) if stores.include?("memcached")
        end

        slow_test "what lasts is loaded in the first round, what is a process's own in each" do
          report, = run_of("--only", "larder,hash", "--parts", "work", "--rounds", "2")
          loaded = events(report, "loaded").map { |event| event["row"] }.tally
          assert_equal({ "larder" => 1, "larder (A/A)" => 1, "hash" => 2 }, loaded)
          measured = report["chapters"].first["measures"].reject { |measure| measure["key"] == "reference" }
          assert_equal [2], measured.map { |measure| measure["samples"].size }.uniq
        end

        slow_test "pages of the application are asked for in process and through Puma, beside the published figures" do
          stores = %w[larder cookie sql-mariadb] & (LOCAL + served)
          report, out = run_of("--only", stores.join(","), "--requests", "4", "--served", "40")
          blocks = events(report, "block").group_by { |block| block["part"] }
          assert_equal (stores.size + 1) * 8, blocks["pages"].size
          assert_equal (stores.size + 1) * 2, blocks["puma"].size
          blocks["puma"].each { |block| assert_equal block["calls"], Histogram.from_h(block["histogram"]).count }
          assert_match(%r{^  /empty/index +1\.28 .* 1\.33 }, out)
          assert_match(%r{^/rezept/cat/Hauptspeise\?page=5: a LIKE over text$}, out)
          assert_match(%r{^/rezept/index by way of Puma: }, out)
          assert_match(/^  larder +[\d.,]+ +1 +[\d.]+ +– +– +–/, out)
          assert_includes measures(report), "sessions/pages/empty/index/larder"
          assert_includes measures(report), "sessions/puma/rezept/index/p50/cookie"
        end

        test "without the application there is no part that needs it, and who asks for one is told" do
          with_directory do |dir|
            FileUtils.cp_r(%w[lib exe].map { |name| File.join(File.dirname(Gemfiles::LAB), name) }, dir)
            command = [RbConfig.ruby, "-w", File.join(dir, "exe/larder-lab"), "sessions"]
            _, err, status = Open3.capture3(*command, "--parts", "pages")
            assert_equal 2, status.exitstatus
            assert_match(%r{--parts pages: the application .* is not there: a checkout .* in examples/recipes}, err)
            out, err, = Open3.capture3(*command, "--quick", "--sessions", "100", "--only", "hash")
            assert_match(%r{Pages are not measured: the application .* is not there}, (out + err).gsub(/\s+/, " "))
          end
        end

        test "a wrong value voids its row, a gem that is not there is a row that says so, and the others go on" do
          outcome = lab(*SMALL, "--parts", "work", "--require", fixture("forgetful"), "--only",
                        "hash,forgetful,missing")
          assert_equal 1, outcome.status
          words = outcome.out.gsub(/\s+/, " ")
          assert_match(/forgetful: invalid, a wrong value: session \d+ has 0 instead of 1\d+/, words)
          assert_match(/missing: the gem larder_lab_missing_gem is missing: gem "larder_lab_missing_gem"/, words)
          assert_match(/^  hash +[\d.]/, outcome.out)
        end

        slow_test "a server that is killed voids its row" do
          skip "redis-server is not installed" unless Servers.fetch("redis").path
          with_directory do |dir|
            run = Thread.new { lab(*SMALL, "--rounds", "50", "--parts", "work", "--only", "redis", "--dir", dir) }
            server = eventually { processes(dir).find { |pid| program(pid) == "redis-server" } }
            eventually { processes(dir).any? { |pid| measuring?(pid) } }
            Process.kill(:KILL, server)
            outcome = run.value
            assert_equal 1, outcome.status
            assert_match(/redis: invalid, the server ended: redis-server was killed by signal 9/,
                         outcome.out.gsub(/\s+/, " "))
            assert_empty Dir.children(dir)
          end
        end

        test "stopped, it leaves neither servers nor files behind" do
          skip "memcached is not installed" unless Servers.fetch("memcached").path
          with_directory do |dir|
            pid = Process.spawn(RbConfig.ruby, EXECUTABLE, *SMALL, "--rounds", "50", "--only", "memcached,larder",
                                "--dir", dir, out: File::NULL, err: File::NULL)
            eventually { processes(dir).any? { |each| program(each) == "memcached" } }
            Process.kill(:INT, pid)
            assert_equal 130, Process.wait2(pid).last.exitstatus
            eventually { Dir.empty?(dir) && processes(dir).empty? }
          end
        end

        slow_test "on running servers the lab's sessions are apart from what is there, and its place in SQL is gone" do
          skip "mariadbd is not installed" unless served.include?("sql-mariadb")
          with_directory do |dir|
            server = Servers.fetch("mariadb").new(dir).start
            urls = %w[--mariadb-url --mariadb-query-cache-url].flat_map { |option| [option, server.endpoint["url"]] }
            outcome = lab(*SMALL, "--parts", "work", "--only", "sql-mariadb,sql-mariadb-cached", *urls)
            assert_equal 0, outcome.status, outcome.out + outcome.err
            assert_match(/^  sql-mariadb +[\d.]/, outcome.out)
            assert_match(/sql-mariadb-cached: its query cache is off: start it with --query-cache-type=ON/,
                         outcome.out.gsub(/\s+/, " "))
            refute_match(/larder_lab/, databases(server))
          ensure
            server&.stop
          end
        end

        slow_test "sessions in a running memcached have a prefix and an end" do
          skip "memcached is not installed" unless Servers.fetch("memcached").path
          with_directory do |dir|
            server = Servers.fetch("memcached").new(dir).start
            speak(server, "set theirs 0 0 1\r\n1\r\n")
            outcome = lab(*SMALL, "--parts", "work", "--only", "memcached", "--memcached-url", server.endpoint["url"])
            assert_equal 0, outcome.status, outcome.out + outcome.err
            assert_match(/VALUE theirs 0 1\r\n1/, speak(server, "get theirs\r\n"))
            keys = speak(server, "lru_crawler metadump all\r\n").scan(/key=(\S+) exp=(-?\d+)/)
            assert_operator keys.size, :>, 100
            forever, ending = keys.partition { |_, expiry| expiry == "-1" }.map { |some| some.map(&:first) }
            assert_equal ["theirs"], forever
            ending.each { |key| assert_match(/\Alarder-lab%3A/, key) }
          ensure
            server&.stop
          end
        end

        test "what makes no sense is refused, help is not" do
          { ["--only", "x"] => /unknown session store x; known: larder, /,
            ["--parts", "work,x"] => /unknown part x; known: work, pages, puma/,
            ["--sessions", "1"] => /--sessions must be 100 or more, not 1/,
            ["--requests", "0"] => /--requests must be 1 or more/, ["--served", "0"] => /--served must be 1 or more/,
            ["--rounds", "0"] => /--rounds must be 1 or more/ }.each do |arguments, message|
            assert_match(message, assert_raises(UsageError) { options_for(*arguments) }.message)
          end
          help = options_for("--help").help
          assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
          assert_includes help, "--mariadb-query-cache-url"
          refute_includes help, "--valkey-url"
          assert_match(/^  sql-mariadb /, options_for("--list").list)
        end

        private

        # Stores whose server is here and whose gems are installed.
        def served
          names = Lab::Sessions::Stores.names - LOCAL
          names.select { |name| here?(Lab::Sessions::Stores.fetch(name)) }
        end

        def program(pid)
          File.basename(File.binread("/proc/#{pid}/cmdline").split(/[\0 ]/).first.to_s)
        rescue SystemCallError
          nil
        end

        def measuring?(pid)
          File.binread("/proc/#{pid}/cmdline").include?("work_worker.rb")
        rescue SystemCallError
          false
        end

        def databases(server)
          out, = Open3.capture2("mariadb", "--no-defaults", "-uroot", "-N", "-S", server.endpoint["socket"], "-e",
                                "SHOW DATABASES")
          out
        end

        def speak(server, request)
          UNIXSocket.open(server.endpoint["socket"]) do |connection|
            connection.write(request)
            answer = +""
            answer << connection.readpartial(65_536) until answer.match?(/(END|STORED)\r\n\z/)
            answer
          end
        end
      end
    end
  end
end
