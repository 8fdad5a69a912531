# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # Commands with a real server, a real proxy and real processes.
      class ProxiedTest < ActiveSupport::TestCase
        NETWORK = %w[network --sessions 1 --passes 1 --turn-ms 0.5 --seed 1].freeze
        MACHINES = %w[machines --sessions 1 --passes 1 --turn-ms 0.5 --seed 1 --rtt 5ms,200ms].freeze

        setup { needs_server("redis") }

        test "network: a store behind the proxy takes its round trips, a local one is measured with it" do
          chapter, out = measured(*NETWORK, "--only", "memory,redis", "--blocks", "read_hello_0us,read_hello_5000us")
          assert_match(/^  round trip: 5.00 ms\n.+\n  memory .+\n  redis +22 +\d/, out)
          measures = chapter["measures"].to_h { |measure| measure.values_at("key", "samples") }
          assert_operator measures.fetch("wire/read_hello_5000us/redis").min, :>=, 0.005
          assert_operator measures.fetch("wire/read_hello_5000us/memory").max, :<, 0.005
        end

        slow_test "network: a running server of the user's is measured without a network alone, and its keys stay" do
          with_server("redis-loopback") do |endpoint|
            speak(endpoint, "SET theirs 1\r\n")
            run = lab(*NETWORK, "--only", "redis", "--url", "redis=#{endpoint["url"]}",
                      "--blocks", "read_hello_no_network,read_hello_0us")
            assert_equal 0, run.status, run.out + run.err
            assert_match(/^  redis +22 +[\d.]+ .s$/, run.out)
            assert_match(/a proxy needs a server of the lab: leave out --url/, run.words)
            assert_match(/\$1\r\n1/, speak(endpoint, "GET theirs\r\n"))
          end
        end

        slow_test "network: compression pays where the bandwidth is low" do
          needs_server("memcached")
          _, out = measured(*NETWORK, "--only", "redis,memcached", "--blocks", "read_none_100mbit,read_zstd_3_100mbit")
          assert_match(/memcached: read, 100 Mbit.s, none: it refuses 1\.06 MB of text/, out.gsub(/\s+/, " "))
          sizes = %w[none zstd-3].map do |codec|
            out[/compressor: #{codec}\n.*\n(?:  memcached .*\n)?  redis +([\d,]+)/, 1].delete(",").to_i
          end
          assert_operator sizes.last, :<, sizes.first * 0.7
        end

        test "network: the user's own network replaces the others" do
          plan = options_of("network", "--wire", "12ms,50mbit").plans.first
          assert_equal [0.012, 50e6], plan.suite.settings[:given]
          assert_equal(["yours"], plan.blocks.map { |block| block.axes.values.first }.uniq)
          assert_equal [0.012, nil], options_of("network", "--wire", "12ms").plans.first.suite.settings[:given]
        end

        test "machines: times, and ages within their bounds" do
          chapter, out = measured(*MACHINES)
          seconds = seconds_of(chapter)
          assert_trips(seconds, [%w[hit redis], %w[miss redis], %w[miss larder-redis], %w[read_multi larder-redis],
                                 %w[write larder-redis]], 0.005)
          assert_trips(seconds, [%w[ten_hits redis]], 0.05)
          assert_trips(seconds, [%w[write larder-redis-backplane]], 0.01)
          %w[larder-redis larder-redis-backplane].each do |row|
            assert_operator seconds.fetch("machines/ten_hits_yours/#{row}"), :<, 0.005
          end
          assert_equal [0.2, 0.2], figures(chapter)["larder-redis"]["seen_yours"]["bound"]
          assert_match(/^  larder-redis +[\d.]+ ms +[\d.]+ ms +[\d.]+ ms +200 ms +\d+$/, out)
          assert_match(/^  - Oldest answer after changes, yours: redis 0 s, /, out)
        end

        test "machines: a store that machines cannot share is not measured" do
          run = lab(*MACHINES, "--only", "memory", "--blocks", "hit_yours,seen_yours")
          assert_equal 1, run.status
          assert_match(/machines cannot share\s+it/, run.out)
        end

        test "machines: a round trip comes with a time that copies are used, if it is not given" do
          { "12ms,5s" => [0.012, 5.0], "0" => [0.0, 0.5] }.each do |words, given|
            assert_equal given, options_of("machines", "--rtt", words).plans.first.suite.settings[:given]
          end
        end

        private

        def seconds_of(chapter) = chapter["measures"].to_h { |measure| [measure["key"], measure["samples"].min] }

        def assert_trips(seconds, blocks, least)
          blocks.each { |call, row| assert_operator seconds.fetch("machines/#{call}_yours/#{row}"), :>=, least }
        end
      end
    end
  end
end
