# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # The command with real servers, real proxies and real processes.
      class NetworkTest < ActiveSupport::TestCase
        SMALL = %w[network --sessions 1 --passes 1 --turn-ms 0.5 --seed 1].freeze

        setup { needs_server("redis") }

        test "a store behind the proxy takes its round trips, a local one is measured with it" do
          chapter, out = measured(*SMALL, "--only", "memory,redis", "--blocks", "read_hello_0us,read_hello_5000us")
          assert_match(/^  round trip: 5.00 ms\n.+\n  memory .+\n  redis +22 +\d/, out)
          measures = chapter["measures"].to_h { |measure| measure.values_at("key", "samples") }
          assert_operator measures.fetch("wire/read_hello_5000us/redis").min, :>=, 0.005
          assert_operator measures.fetch("wire/read_hello_5000us/memory").max, :<, 0.005
        end

        slow_test "a running server of the user's is measured without a network alone, and its keys stay" do
          with_server("redis-loopback") do |endpoint|
            speak(endpoint, "SET theirs 1\r\n")
            run = lab(*SMALL, "--only", "redis", "--url", "redis=#{endpoint["url"]}",
                      "--blocks", "read_hello_no_network,read_hello_0us")
            assert_equal 0, run.status, run.out + run.err
            assert_match(/^  redis +22 +[\d.]+ .s$/, run.out)
            assert_match(/a proxy needs a server of the lab: leave out --url/, run.words)
            assert_match(/\$1\r\n1/, speak(endpoint, "GET theirs\r\n"))
          end
        end

        slow_test "compression pays where the bandwidth is low" do
          run = lab(*SMALL, "--only", "redis", "--blocks", "read_none_100mbit,read_zstd_3_100mbit")
          assert_equal 0, run.status, run.out
          sizes = %w[none zstd-3].map do |codec|
            run.out[/compressor: #{codec}\n.*\n  redis +([\d,]+)/, 1].delete(",").to_i
          end
          assert_operator sizes.last, :<, sizes.first * 0.7
        end

        test "the user's own network replaces the others" do
          plan = options_of("network", "--wire", "12ms,50mbit").plans.first
          assert_equal "0.012,50000000.0", plan.suite.settings[:given]
          assert_equal(["yours"], plan.blocks.map { |block| block.axes.values.first }.uniq)
          assert_equal "0.012,", options_of("network", "--wire", "12ms").plans.first.suite.settings[:given]
          assert_equal [0.012, nil], Suites::Wire.given("0.012,").then { |wire| [wire.rtt, wire.bandwidth] }
        end
      end
    end
  end
end
