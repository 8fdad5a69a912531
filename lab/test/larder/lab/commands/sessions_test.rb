# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # Session stores, and questions about sessions, for real, on real servers, from the command line to the report.
      class SessionsTest < ActiveSupport::TestCase
        setup do
          skip "the gems of lab/gemfiles/sessions.gemfile are not installed" unless installed?("sessions")
          needs_server("mariadb")
        end

        slow_test "every store is measured in every way, and no process and no file is left" do
          blocks = %w[unchanged changed new none empty_off show_on]
          rows = here_of(Lab::Sessions::Stores)
          chapter, out = measured("sessions", *SHORT, "--only", rows.join(","), "--blocks", blocks.join(","))
          assert_no_match(/invalid/, out)
          assert_empty blocks.product(rows) - turns(chapter), out
          assert_match(%r{^  /empty/index +1\.233 +[\d.]+ +0\.963 +[\d.]+ +1\.28 +\S}, out)
        end

        test "a wrong value voids its row, and the others go on" do
          outcome = lab("sessions", *SHORT, "--blocks", "unchanged,changed", "--require", fixture("liar"),
                        "--only", "file,forgetful", env: { "COLUMNS" => "200" })
          assert_equal 1, outcome.status
          assert_match(/forgetful: invalid, a wrong value/, outcome.out)
          assert_match(/^  file +[\d.]/, outcome.out)
        end

        slow_test "sessions in a running memcached have a prefix and an end" do
          with_server("memcached") do |endpoint|
            speak(endpoint, "set theirs 0 0 1\r\n1\r\n")
            measured("sessions", *SHORT, "--blocks", "new", "--only", "memcached", "--url",
                     "memcached=#{endpoint["url"]}")
            assert_match(/VALUE theirs 0 1\r\n1/, speak(endpoint, "get theirs\r\n"))
            keys = speak(endpoint, "lru_crawler metadump all\r\n").scan(/key=(\S+) exp=(-?\d+)/)
            assert_operator keys.size, :>, 100
            forever, ending = keys.partition { |_, expiry| expiry == "-1" }.map { |some| some.map(&:first) }
            assert_equal ["theirs"], forever
            ending.each { |key| assert_match(/\Alarder-lab%3A/, key) }
          end
        end

        slow_test "session-stats: every question is answered rightly by every contender" do
          rows = here_of(Lab::SessionStats::Stores)
          chapter, out = measured("session-stats", *SHORT, "--only", rows.join(","))
          assert_no_match(/invalid/, out)
          blocks = [*Lab::SessionStats::QUESTIONS.keys, :use].map(&:to_s)
          assert_empty blocks.product(rows) - turns(chapter)
          assert_match(/^  larder +\d+ +[\d.]+ [mµ]s/, out)
        end

        slow_test "session-stats: a wrong answer voids its row, and the others go on" do
          outcome = lab("session-stats", *SHORT, "--require", fixture("liar"), "--only",
                        "larder,miscounting,heedless", env: { "COLUMNS" => "200" })
          assert_equal 1, outcome.status
          assert_match(/miscounting: invalid, a wrong value: sessions active in five minutes/, outcome.out)
          assert_match(/heedless: invalid, a wrong value: sessions used just now are \d+ instead of \d+/, outcome.out)
          assert_match(/^  larder +\d+ +[\d.]+ [mµ]s/, outcome.out)
        end

        private

        def installed?(bundle)
          File.exist?(File.join(File.dirname(Gemfiles::LAB), "gemfiles", "#{bundle}.gemfile.lock"))
        end

        # Names of those whose server is here and whose gems are installed.
        def here_of(registry)
          registry.names.select do |name|
            type = registry.fetch(name)
            installed?(type.bundle) && (type.server.nil? || Servers.fetch(type.server).path)
          end
        end
      end
    end
  end
end
