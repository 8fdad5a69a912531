# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/samples"
require "support/simulated_turns"

module Larder
  module Lab
    module Bench
      class SamplesTest < ActiveSupport::TestCase
        test "turns come back from a file, without a last line that was cut off" do
          with_directory do |dir|
            path = File.join(dir, "turns.jsonl")
            turns = SimulatedTurns.new({ "a" => 1.0 }, seed: 1, sessions: 1, passes: 2).samples.to_a
            File.open(path, "w") { |file| turns.each { |turn| Samples.new(file).add(turn) } }
            assert_equal turns, Samples.read(path).to_a
            File.write(path, File.read(path)[0..-5])
            assert_equal turns[0..-2], Samples.read(path).to_a
          end
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
