# frozen_string_literal: true

require "test_helper"
require_relative "page_counts"

module Guards
  # A set into pages that are new or were written back touches the pages and makes the system calls on record.
  class PageCountsTest < ActiveSupport::TestCase
    REMEDY = "If it is meant, record it with `bundle exec rake guards:record` and say in the commit what changed."

    test "a MB of values touches the pages and makes the system calls on record" do
      found = PageCounts.now
      recorded = PageCounts.recorded
      changed = (recorded.keys | found.keys).reject { |name| recorded[name] == found[name] }
      told = changed.map { |name| "#{name}: #{recorded[name] || "nothing"} on record, #{found[name] || "nothing"} now" }
      assert_empty changed, "#{told.join("\n")}\n#{REMEDY}"
    rescue Unavailable => error
      skip error.message
    end

    test "a value of ten KB is written without a fault for each of its pages" do
      recorded = PageCounts.recorded
      ["new", "written back"].each do |state|
        short, long = [2000, 10_000].map do |bytes|
          recorded.fetch("#{bytes} bytes, #{state}: pages of records, stored to")
        end
        assert_operator long, :<, short / 4
      end
    end
  end
end
