# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    # The lab does not grow: a change that adds lines takes as many away, and the limit follows what is there.
    class BudgetTest < ActiveSupport::TestCase
      MOST_LINES = 22_000
      FILES = "{README.md,exe/*,gemfiles/*.{rb,gemfile},schema/*,{lib,test,traces}/**/*.{rb,css,erb,yml}}"

      test "the lab and its tests have no more lines than their budget" do
        root = File.expand_path("../../..", __dir__)
        lines = Dir.glob(FILES, base: root).sum { |file| File.foreach(File.join(root, file)).count }
        assert_includes (MOST_LINES - 1000)..MOST_LINES, lines
      end
    end
  end
end
