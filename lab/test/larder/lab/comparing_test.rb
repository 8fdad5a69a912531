# frozen_string_literal: true

require "test_helper"
require "larder/lab/comparing"
require "support/simulated_runs"

module Larder
  module Lab
    module Comparing
      # Simulated turns of 26 measures become reports in JSON, and two such reports become verdicts.
      class ChapterTest < ActiveSupport::TestCase
        BLOCKS = %w[fragment json].freeze
        ROWS = Contenders.names.first(13).freeze
        # A row in a block.
        SLOWED = [ROWS[6], "json"].freeze

        test "a machine that is slower as a whole changes no ratio and no verdict, and it is said" do
          usual, slower = [1.0, 1.5].map { |machine| compare(3, machine: machine, slowed: { SLOWED => 1.3 }) }
          assert_equal shown(usual), shown(slower)
          usual.changes.zip(slower.changes) { |one, other| assert_in_delta one.ratio, other.ratio, 1e-9 }
          assert_match(/The reference loop took 1\.[3-7]\d times as long/, slower.to_chapter.conclusions.join)
        end

        test "all sessions of several reports count together, so that smaller changes are found" do
          one, three = [1, 3].map { |reports| compare(5, slowed: { SLOWED => 1.1 }, reports: reports) }
          assert_operator three.changes.first.detectable, :<, one.changes.first.detectable
          assert_equal [["applications/json/#{ROWS[6]}", :worse]], shown(three)
        end

        test "a machine that was too busy to tell in every measure is said to be so, and fails --fail-on" do
          usual, gate = [nil, 0.05].map { |share| compare(2, fail_on: share, turn: 1.0, process: 0.4).to_chapter }
          assert_equal [false, true], [usual, gate].map(&:failed?)
          assert_match(/too busy to tell in 26\./, usual.conclusions.first)
          assert_equal ["too busy to tell"], usual.sections.first.blocks.first.rows.map { |row| row[1] }.uniq
          assert_match(/\A--fail-on decides nothing, .* measure both sides again/, gate.conclusions.last)
        end

        private

        def shown(chapter)
          chapter.changes.map { |change| [change.key, chapter.verdict(change)] }
                 .reject { |_, verdict| %i[alike unknown].include?(verdict) }
        end

        def compare(seed, fail_on: nil, slowed: {}, machine: 1.0, **how)
          with_directory do |dir|
            sides = [[{}, 1.0], [slowed, machine]].map.with_index do |(changes, factor), side|
              side(File.join(dir, side.to_s), changes, factor, (2 * seed) + side, **how)
            end
            Chapter.new(*sides, fail_on: fail_on)
          end
        end

        def side(dir, slowed, machine, seed, reports: 1, **noise)
          Dir.mkdir(dir)
          reports.times do |at|
            factors = [*ROWS, Bench::ReferenceLoop::KEY].to_h { |row| [row, machine] }
            chapter = SimulatedRuns.chapter(factors, rows: ROWS, blocks: BLOCKS, passes: 3, seed: seed + (1000 * at),
                                                     slowed: slowed, **noise)
            File.write(File.join(dir, "#{at}.json"), JSON.generate(SimulatedRuns.document(chapter).to_h))
          end
          Runs.new(dir)
        end
      end
    end
  end
end
