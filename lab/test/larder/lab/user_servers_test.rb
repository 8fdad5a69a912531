# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    # Running servers of the user's: each contender is measured on one that speaks its protocol, by --url, and
    # nothing but the lab's own is touched in it.
    class UserServersTest < ActiveSupport::TestCase
      # Asks Redis for all keys, each with the seconds until it expires.
      LIVES = "EVAL \"local all = {} for _, key in ipairs(redis.call('KEYS', '*')) do all[#all + 1] = key .. ' ' .. " \
              "redis.call('TTL', key) end return all\" 0\r\n"

      slow_test "every contender of Redis' protocol is measured on a running server, whose keys stay" do
        with_server("redis") do |endpoint|
          speak(endpoint, "SET theirs 1\r\n")
          measure(["redis", "redis-hiredis", "valkey", "dicedb", "dragonfly"], endpoint["url"])
          assert_match(/\$1\r\n1/, speak(endpoint, "GET theirs\r\n"))
        end
      end

      test "all that is stored in a running Redis has the lab's prefix and expires, and Redis is not filled" do
        with_server("redis") do |endpoint|
          run = ->(*words) { lab(*words, *SHORT, "--url", "redis=#{endpoint["url"]}") }
          applications = run["applications", "--only", "redis,larder-redis", "--blocks", "fragment,record,json,cold"]
          calls = run["calls", "--only", "redis", "--blocks", "write_100b,fetch_namespace,write_full,write_cold"]
          assert_equal [0, 0], [applications.status, calls.status], applications.out + calls.out
          assert_match(/redis: first writes .*; write, 10 KB, full store: a server that is not the lab's own is/,
                       calls.words)
          lives = speak(endpoint, LIVES).scan(/^(.+) (-?\d+)\r$/)
          assert_operator lives.size, :>, 100
          assert_empty(lives.reject { |key, life| key.start_with?("larder-lab:") && life.to_i.between?(0, 300) })
        end
      end

      test "all that is stored in a running memcached expires, and its keys stay" do
        with_server("memcached") do |endpoint|
          speak(endpoint, "set theirs 0 0 1\r\n1\r\n")
          outcome = lab("applications", *SHORT, "--only", "memcached", "--blocks", "fragment", "--url",
                        "memcached=#{endpoint["url"]}")
          assert_equal 0, outcome.status, outcome.out
          assert_match(/VALUE theirs 0 1\r\n1/, speak(endpoint, "get theirs\r\n"))
          ends = speak(endpoint, "lru_crawler metadump all\r\n").scan(/exp=(-?\d+)/).flatten.map(&:to_i)
          assert_operator ends.size, :>, 100
          assert_equal [-1], ends.reject { |time| time.between?(1, Time.now.to_i + 300) }
        end
      end

      { "postgresql" => ["solid_cache-postgresql", "solid_cache-postgresql-tuned"],
        "mariadb" => ["solid_cache-mariadb"] }.each do |server, names|
        slow_test "every contender of #{server} is measured on a running server, and the lab's place is then gone" do
          with_server(server) do |endpoint|
            before = places(server, endpoint)
            measure(names, endpoint["url"])
            assert_equal before, places(server, endpoint)
          end
        end

        slow_test "in #{server} a place of the lab's name that it did not make is refused, and stays" do
          with_server(server) do |endpoint|
            sql(server, endpoint, server == "mariadb" ? "CREATE DATABASE larder_lab" : "CREATE SCHEMA larder_lab")
            outcome = run_on(names.first(1), endpoint["url"])
            assert_match(/larder_lab on \S+ is not the lab's: rename it/, outcome.out.gsub(/\s+/, " "))
            assert_includes places(server, endpoint), "larder_lab"
          end
        end
      end

      private

      def run_on(names, url)
        servers = names.map { |name| Contenders.fetch(name).server }.uniq
        outcome = small_run("--only", names.join(","), "--blocks", "hit",
                            *servers.flat_map { |server| ["--url", "#{server}=#{url}"] })
        skip "gems are not installed" if outcome.out.include?("gems are not installed")
        outcome
      end

      def measure(names, url)
        outcome = run_on(names, url)
        assert_equal 0, outcome.status, outcome.out + outcome.err
        names.each { |name| assert_match(/^  #{name} +\d/, outcome.out) }
      end

      # Names of schemas or databases.
      def places(server, endpoint)
        query = server == "mariadb" ? "SHOW DATABASES" : "SELECT nspname FROM pg_namespace ORDER BY 1"
        sql(server, endpoint, query).split
      end

      # By the server's own client.
      def sql(server, endpoint, query)
        command = if server == "mariadb"
                    ["mariadb", "--no-defaults", "-uroot", "-N", "-S", endpoint["socket"], "-e", query]
                  else
                    ["psql", "-XAtq", endpoint["url"], "-c", query]
                  end
        skip "#{command.first} is not installed" unless system("which", command.first, out: File::NULL)

        out, err, status = Open3.capture3(*command)
        assert_predicate status, :success?, err
        out
      end
    end
  end
end
