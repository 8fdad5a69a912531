# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/samples"
require "support/simulated_turns"

module Larder
  module Lab
    module Bench
      class SamplesTest < ActiveSupport::TestCase
        test "turns come back from JSON, and those without a time are refused" do
          turns = SimulatedTurns.new({ "a" => 1.0 }, seed: 1, sessions: 1, passes: 2).samples.to_a
          json = JSON.parse(JSON.generate(turns.map(&:to_h)))
          assert_equal turns, Samples.from(json).to_a
          [nil, "1", 0].each do |seconds|
            assert_raises(ArgumentError) { Samples.from([json[0].merge("seconds" => seconds)]) }
          end
          assert_raises(ArgumentError) { Samples.from([{ "other" => 1 }]) }
        end

        test "a series has a row and its twin, and the difference between them" do
          samples = Samples.new
          [[0, 2.0], [1, 8.0]].each do |copy, seconds|
            samples.add(Samples::Turn.new(row: "a", block: "b", copy: copy, session: 3, pass: 0, seconds: seconds))
          end
          series = samples.of("a", "b")
          assert_equal [3], series.sessions
          assert_equal [Math.log(2.0), Math.log(8.0)], series.logarithms(3)[0]
          assert_in_delta Math.log(0.25), series.between_copies(3).first
          assert_empty samples.of("a", "c")
        end
      end
    end
  end
end
