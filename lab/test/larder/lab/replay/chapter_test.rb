# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Replay
      class ChapterTest < ActiveSupport::TestCase
        test "the size that suits is said once, and the curve of misses says what they count" do
          chapter = SimulatedRuns.chapter({ "larder" => 1.0, "redis" => 2.0 }, suite: "replay", blocks: ["fast"])
          table, curves = chapter.sections.find { |section| section.title == Chapter::SIZED }.blocks
          assert_match(/\A8\.00 MB suit this recording: /, chapter.conclusions.last)
          assert_equal [[], Chapter::NOTE], [table.notes, curves.sentence]
          assert_operator table.rows.last[1], :<, table.rows.first[1]
        end
      end
    end
  end
end
