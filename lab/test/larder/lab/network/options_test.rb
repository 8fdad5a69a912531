# frozen_string_literal: true

require "test_helper"
require "larder/lab/network/options"

module Larder
  module Lab
    module Network
      class OptionsTest < ActiveSupport::TestCase
        test "round trips begin at 0, bandwidths without a limit, whatever is asked for" do
          plan = plan("--rtt", "1ms,200us", "--bandwidth", "100mbit,1gbit,100mbit")
          assert_equal [0.0, 0.0002, 0.001], plan.rtts
          assert_equal [nil, 1e9, 1e8], plan.bandwidths
          assert_equal 0.0002, plan.middle_rtt
        end

        test "a store behind a network is measured at every point, a local one once" do
          rows = plan("--only", "larder,redis", "--rtt", "1ms", "--bandwidth", "1gbit").rows
          assert_equal [LOCAL], rows.first.points
          network = [Point.new(0.0, nil), Point.new(0.001, nil), Point.new(0.001, 1e9)]
          assert_equal network, rows[1].points
          codec = rows.find { |row| row.part == :codecs }
          assert_equal [Point.new(0.0, nil), Point.new(0.0, 1e9)], codec.points
          assert_equal "redis", codec.contender
        end

        test "a Rails application is booted once a process" do
          solid, redis = plan("--only", "solid_cache,redis").rows
          assert_equal [[LOCAL]], solid.processes
          assert_equal [redis.points], redis.processes
        end

        test "codecs are pairs, with names for two of them, and none without Redis unless they are named" do
          assert_equal %w[marshal+zlib larder+none native+lz4], plan("--codecs", "rails,larder,native+lz4").codecs
          assert_empty plan("--codecs", "none").codecs
          assert_empty plan("--only", "larder").codecs
          assert_equal %w[marshal+none], plan("--only", "larder", "--codecs", "marshal+none").codecs
        end

        test "a payload of one's own is for stores and codecs" do
          plan = plan("--payload", "ruby:1")
          assert_equal [["given"], "given", "ruby:1"], [plan.payloads, plan.codec_payload, plan.source]
          assert_equal %w[books], plan("--payload", "books").payloads
        end

        test "what makes no sense is refused, with what is possible" do
          { ["--rtt", "5"] => /--rtt 5: a duration is written 200us/,
            ["--bandwidth", "1gb"] => /--bandwidth 1gb: a bandwidth is written 10kbit/,
            ["--codecs", "marshal"] => /--codecs marshal: a codec is SERIALIZER\+COMPRESSOR, of larder, marshal/,
            ["--codecs", "marshal+zip"] => /--codecs marshal\+zip/,
            ["--payload", "/missing"] => %r{--payload /missing: no such file, and none of books},
            ["--only", "nothing"] => /unknown contender nothing; known:/,
            ["--rounds", "0"] => /--rounds must be 1 or more/ }.each do |arguments, message|
            assert_match message, assert_raises(UsageError) { plan(*arguments) }.message
          end
        end

        test "quick asks for less" do
          assert_operator plan("--quick").rounds, :<, plan.rounds
          assert_operator plan("--quick").wires.size, :<, plan.wires.size
          assert_equal 7, plan("--quick", "--seed", "7").seed
        end

        private

        def plan(*arguments)
          Options.parse(arguments).plan
        end
      end
    end
  end
end
