# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    # The kernel, its suites, their report and commands, and the tests of all these stay small.
    class BudgetTest < ActiveSupport::TestCase
      MOST_LINES = 7_400
      FILES = ["lib/larder/lab/{bench,suites,suite_report}/**/*.rb", "lib/larder/lab/{suites,published}.rb",
               "lib/larder/lab/commands/{suite,suite_options,stores,applications,calls,overview}.rb",
               "lib/larder/lab/commands/{compressors,serializers,strategies,matrix}.rb",
               "test/larder/lab/{bench,suites,suite_report}/**/*.rb", "test/larder/lab/published_test.rb",
               "test/larder/lab/commands/{suite,suite_options,stores,applications,calls,overview,codecs}_test.rb",
               "test/support/simulated_turns.rb"].freeze

      test "they have no more lines than their budget" do
        root = File.expand_path("../../..", __dir__)
        files = FILES.flat_map { |pattern| Dir.glob(pattern, base: root) }
        assert_operator files.size, :>, 40
        lines = files.sum { |file| File.foreach(File.join(root, file)).count }
        assert_operator lines, :<=, MOST_LINES
      end
    end
  end
end
