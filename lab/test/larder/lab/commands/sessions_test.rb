# frozen_string_literal: true

require "test_helper"
require "support/session_runs"

module Larder
  module Lab
    module Commands
      # Session stores for real, on real servers, from the command line to the report.
      class SessionsTest < ActiveSupport::TestCase
        include SessionRuns

        COMMAND = "sessions"
        SMALL = %w[sessions --sessions 1 --passes 1 --turn-ms 1 --seed 1].freeze

        setup do
          skip "the gems of lab/gemfiles/sessions.gemfile are not installed" unless installed?("sessions")
          skip "mariadbd is not installed" unless Servers.fetch("mariadb").path
        end

        slow_test "every store is measured in every way, and no process and no file is left" do
          stores = Lab::Sessions::Stores.names.select { |name| here?(Lab::Sessions::Stores.fetch(name)) }
          blocks = %w[unchanged changed new none empty_off show_on]
          report, out = run_of("--only", stores.join(","), "--blocks", blocks.join(","))
          assert_no_match(/invalid/, out)
          measured = stores.product(blocks).map { |store, block| "published-e/#{block}/#{store}" }
          assert_empty measured - measures(report), out
          assert_match(%r{^  /empty/index +1\.233 +[\d.]+ +0\.963 +[\d.]+ +1\.28 +\S}, out)
        end

        test "a wrong value voids its row, a gem that is not there is a row that says so, and the others go on" do
          outcome = lab(*SMALL, "--blocks", "unchanged,changed", "--require", fixture("forgetful"), "--only",
                        "file,forgetful,missing", env: { "COLUMNS" => "200" })
          assert_equal 1, outcome.status
          assert_match(/forgetful: invalid, a wrong value/, outcome.out)
          assert_match(/missing: the gem larder_lab_missing_gem is missing: gem "larder_lab_missing_gem"/, outcome.out)
          assert_match(/^  file +[\d.]/, outcome.out)
        end

        slow_test "sessions in a running memcached have a prefix and an end" do
          skip "memcached is not installed" unless Servers.fetch("memcached").path
          with_directory do |dir|
            server = Servers.fetch("memcached").new(dir).start
            speak(server, "set theirs 0 0 1\r\n1\r\n")
            outcome = lab(*SMALL, "--blocks", "new", "--only", "memcached", "--memcached-url", server.endpoint["url"])
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

        test "an unknown session store is refused, and help names the option of a server that is used" do
          error = assert_raises(UsageError) { options_for("--only", "x") }
          assert_match(/unknown session store x; known: larder, /, error.message)
          help = options_for("--help").help
          assert_empty(help.lines.map(&:chomp).select { |line| line.size > 80 })
          assert_includes help, "--memcached-url"
          assert_match(/^  sql-mariadb /, options_for("--list").list)
        end

        private

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
