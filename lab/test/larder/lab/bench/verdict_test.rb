# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/verdict"
require "support/simulated_turns"

module Larder
  module Lab
    module Bench
      # Statistics and verdicts on simulated turns, whose truth is known.
      class VerdictTest < ActiveSupport::TestCase
        SEEDS = (0...200)

        test "rows that are alike are called different in at most 8 of 200 runs, whatever the noise" do
          [{}, { process: 0.05 }, { turn: 0.2 }, { disturbed: 0.3 }, { pass: 0.5 }].each do |noise|
            verdicts = SEEDS.map { |seed| verdict("a", "b", { "a" => 1.0, "b" => 1.0 }, seed, **noise) }
            assert_operator verdicts.count { |verdict| %i[slower faster].include?(verdict) }, :<=, 8, noise.inspect
          end
        end

        test "a row that is slowed by 1.05, or by 1.5, is found" do
          { 1.05 => 180, 1.5 => 200 }.each do |factor, least|
            found = SEEDS.count { |seed| verdict("b", "a", { "a" => 1.0, "b" => factor }, seed) == :slower }
            assert_operator found, :>=, least, factor
            assert_equal 0, SEEDS.first(50).count { |seed|
              verdict("b", "a", { "a" => 1.0, "b" => factor }, seed) == :faster
            }
          end
        end

        test "the interval holds the true ratio in at least 95 of 100 runs" do
          held = SEEDS.count do |seed|
            found = estimate("b", "a", { "a" => 1.0, "b" => 1.2 }, seed)
            1.2.between?(found.low, found.high)
          end
          assert_operator held, :>=, 190
        end

        test "a difference of the smallest detectable size is found in three of four runs or more" do
          sizes = SEEDS.first(50).map { |seed| estimate("b", "a", { "a" => 1.0, "b" => 1.0 }, seed).detectable }
          size = Stats.median(sizes)
          found = SEEDS.count { |seed| verdict("b", "a", { "a" => 1.0, "b" => size }, seed) == :slower }
          assert_operator found, :>=, 150
        end

        test "a machine that is too busy is answered so, and a great difference is found even there" do
          busy = { turn: 1.0, process: 0.4, disturbed: 0.5 }
          verdicts = SEEDS.map { |seed| verdict("a", "b", { "a" => 1.0, "b" => 1.0 }, seed, **busy) }
          assert_operator verdicts.count(:unknown), :>=, 190
          found = SEEDS.count { |seed| verdict("b", "a", { "a" => 1.0, "b" => 20.0 }, seed, **busy) == :slower }
          assert_operator found, :>=, 190
        end

        test "a row that differs from its own twin widens the interval by that difference" do
          samples = Samples.new
          6.times do |session|
            { "a" => [1.0, 1.1], "b" => [1.05, 1.05] }.each do |row, both|
              both.each_with_index do |seconds, copy|
                samples.add(Samples::Turn.new(row: row, block: "block", copy: copy, session: session, pass: 0,
                                              seconds: seconds * (1 + (0.001 * ((session * 7 % 5) - 2)))))
              end
            end
          end
          found = Stats.ratio(samples.of("b", "block"), samples.of("a", "block"))
          assert_in_delta 1.1, found.bias, 0.01
          assert_operator found.high / found.low, :>, 1.09**2
          assert_equal :alike, Verdict.of(found)
        end

        test "nothing is claimed of fewer than five sessions, or of none" do
          samples = SimulatedTurns.new({ "a" => 1.0, "b" => 9.0 }, seed: 1, sessions: 4).samples
          found = Stats.ratio(samples.of("b", "block"), samples.of("a", "block"))
          assert_operator found.low, :>, 1
          assert_equal :unknown, Verdict.of(found)
          assert_equal :unknown, Verdict.of(Stats.ratio(samples.of("b", "block"), samples.of("c", "block")))
        end

        test "a difference below a tenth does not matter" do
          { 1.05 => :negligible, 1.5 => :slower, 1 / 1.5 => :faster }.each do |factor, verdict|
            assert_equal verdict, Verdict.for_an_application(estimate("b", "a", { "a" => 1.0, "b" => factor }, 1))
          end
        end

        private

        def verdict(...) = Verdict.of(estimate(...))

        def estimate(one, other, factors, seed, **noise)
          samples = SimulatedTurns.new(factors, seed: seed, **noise).samples
          Stats.ratio(samples.of(one, "block"), samples.of(other, "block"))
        end
      end

      class StudentTest < ActiveSupport::TestCase
        # Degrees of freedom, probability, quantile: Abramowitz and Stegun, table 26.10, and R's qt.
        TABLE = [[1, 0.995, 63.6567], [2, 0.975, 4.30265], [4, 0.975, 2.77645], [6, 0.99, 3.14267], [10, 0.9, 1.37218],
                 [30, 0.995, 2.75000], [120, 0.99, 2.35782], [5, 0.5, 0.0]].freeze

        test "quantiles are those of printed tables" do
          TABLE.each do |degrees, probability, value|
            assert_in_delta value, Student.quantile(probability, degrees), 1e-4
          end
        end

        test "the tail beyond a quantile is what is missing to 1" do
          [1, 2, 3, 8, 41, 1000].product([0.001, 0.2, 0.6, 0.98, 0.99999]) do |degrees, probability|
            assert_in_delta 1.0 - probability, Student.tail(Student.quantile(probability, degrees), degrees), 1e-9
          end
        end
      end
    end
  end
end
