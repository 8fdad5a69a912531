# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # The command with a real server, a real proxy and real machines.
      class MachinesTest < ActiveSupport::TestCase
        SMALL = %w[machines --sessions 1 --passes 1 --turn-ms 0.5 --seed 1 --rtt 5ms,200ms].freeze

        setup { needs_server("redis") }

        test "times, and ages within their bounds" do
          chapter, out = measured(*SMALL)
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

        test "a store that machines cannot share is not measured" do
          run = lab(*SMALL, "--only", "memory", "--blocks", "hit_yours,seen_yours")
          assert_equal 1, run.status
          assert_match(/machines cannot share\s+it/, run.out)
        end

        test "a round trip comes with a time that copies are used, if it is not given" do
          { "12ms,5s" => "0.012,5.0", "0" => "0.0,0.5" }.each do |words, given|
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
