# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Features
      class ChapterTest < ActiveSupport::TestCase
        test "every cell of the published table stands in the table, below the tested one where it was tested" do
          table = published(row("redis", "remote" => false, "cluster" => true))
          Published.of("features").tables.first.rows.each do |name, (title, *answers)|
            at = table.rows.index { |cells| cells.first == "#{title} (published)" }
            assert_equal [*answers, nil], table.rows[at].drop(1)
            tested = table.rows[at - 1]
            name == "redis" ? assert_equal(["no ≠", true], tested[6, 2]) : assert_match(/took no part/, tested.last)
          end
        end

        test "an answer that did not come is unknown, one that was not tried is not tested, and both say why" do
          chapter = chapter(row("redis", "cluster" => "not tested", "remote" => "unknown"))
          cells = chapter.sections.first.blocks.first.rows.find { |line| line.first == "redis" }
          assert_equal ["unknown", "not tested"], cells[6, 2]
          reasons = chapter.sections.find { |section| section.title == "No answer" }.blocks.first.items
          ["redis, remote: unknown: seen.", "redis, cluster: not tested: seen.",
           "redis, app restart: unknown: no answer came."].each { |line| assert_includes reasons, line }
        end

        test "a store that could not be had is a row with the reason" do
          table = published(Row.new(name: "redis", reason: "no redis-server", answers: {}, trouble: []))
          assert_includes table.rows, ["redis", "not tested: no redis-server"]
        end

        test "each question has a table, and a process that asks it" do
          assert_equal Probes::TABLES.keys, Probes.all.map(&:table).uniq
          assert_equal Probes.all.size, Probes.all.map(&:key).uniq.size
          Probes.all.each { |probe| assert_equal probe.part != :visit, !probe.block.nil?, probe.key }
          assert_empty Published.of("features").tables.first.columns.map(&:title) - Probes.all.map(&:title)
        end

        private

        def row(name, answers)
          Row.new(name: name, trouble: [],
                  answers: answers.transform_values { |answer| { "answer" => answer, "note" => "seen" } })
        end

        def chapter(*rows)
          Chapter.new(rows, 1, {}).to_chapter
        end

        def published(*rows)
          chapter(*rows).sections.first.blocks.first
        end
      end
    end
  end
end
