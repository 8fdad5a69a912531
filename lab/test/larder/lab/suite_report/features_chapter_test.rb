# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module SuiteReport
      class FeaturesChapterTest < ActiveSupport::TestCase
        QUESTIONS = Suites::Features::BLOCKS.transform_values(&:last)

        test "each cell of the published table stands below the tested one, also where none was tested" do
          rows = table({ "redis" => { "remote" => false, "cluster" => true } }).rows
          Published.of("features").tables.first.rows.each do |name, (title, *answers)|
            at = rows.index { |cells| cells.first == "#{title} (published)" }
            assert_equal answers, rows[at].drop(1)
            tested = rows[at - 1]
            name == "redis" ? assert_equal(["no ≠", true], tested[6, 2]) : assert_match(/took no part/, tested.last)
          end
        end

        test "an answer that did not come is unknown, one that was not tried is not tested, and both say why" do
          answers = { "redis" => { "cluster" => "not tested", "remote" => "unknown" } }
          assert_equal(["unknown", "not tested"], table(answers).rows.find { |line| line.first == "redis" }[6, 2])
          reasons = chapter(answers).sections.find { |section| section.title == "No answer" }.blocks.first.items
          assert_equal ["redis: cluster: not tested (seen).", "redis: remote: unknown (seen)."], reasons
        end

        test "a no has its reason, and is in the table alone where the question says it" do
          found = chapter({ "larder" => { "remote" => false, "cluster" => [false, nil] } })
          assert_equal ["larder: remote: no (seen)."],
                       found.sections.find { |section| section.title == "Why not" }.blocks.first.items
        end

        test "a store that could not be had is a row with the reason" do
          absent = { "redis" => Bench::Absence.new(state: :unavailable, reason: "no redis-server") }
          assert_includes table({ "redis" => {} }, absent: absent).rows, ["redis", "not measured: no redis-server"]
        end

        test "each question has a method that answers it, and the published columns are the first questions" do
          assert_empty QUESTIONS.each_value.flat_map(&:keys) - Suites::Features::Questions.private_instance_methods
          assert_equal QUESTIONS[:published].values.map(&:first),
                       Published.of("features").tables.first.columns.map(&:title)
        end

        test "findings name the stores with yes in the order of rows, and leave out questions without answers" do
          answers = { "redis" => { "cross_process" => true }, "file" => { "cross_process" => true, "remote" => false },
                      "memory" => { "cross_process" => false } }
          found = chapter(answers, factors: { "redis" => 1.0 }).conclusions
          assert_equal ["0 of 4 published answers that were tested differ here.",
                        "Processes of one machine share redis, file."], found
        end

        private

        def chapter(answers, factors: {}, **how)
          recorded = answers.transform_values do |given|
            figures = given.transform_values { |answer| [[*answer, "seen"].first(2)] }
            { "figures" => { "published" => figures }, "versions" => {} }
          end
          SimulatedRuns.chapter(factors, suite: "features", rows: answers.keys, recorded: recorded, **how)
        end

        def table(...) = chapter(...).sections.first.blocks.last
      end
    end
  end
end
