# frozen_string_literal: true

require "test_helper"
require "support/paths"

module Guards
  # How long the way of a call through the Ruby methods is: a reader follows it, and each method costs time.
  class PathsTest < ActiveSupport::TestCase
    include TemporaryDirectory

    # Methods of Larder and of ActiveSupport::Cache, own files, and changes of file, at most.
    LIMITS = {
      "hit in C" => [0, 0, 0],
      "ordinary hit" => [17, 3, 6],
      "ordinary miss and write" => [43, 9, 28],
      "ordinary delete" => [9, 6, 7],
      "two levels: hit in C" => [0, 0, 0],
      "two levels: read of nothing" => [32, 13, 22],
      "two levels: miss and write" => [107, 26, 74],
      "two levels: miss with single flight" => [312, 36, 216],
      "two levels: write" => [61, 18, 41],
      "two levels: delete" => [37, 14, 24],
      "two levels: fetch_multi, 5 of 100 in the remote store" => [210, 20, 143]
    }.freeze

    test "no way through the store becomes longer" do
      measured = Paths.measure(directory)
      LIMITS.each do |name, limits|
        assert measured.fetch(name).zip(limits).all? { |length, limit| length <= limit },
               "#{name}: #{measured[name].join(", ")} methods, files and changes of file; at most #{limits.join(", ")}"
      end
    end
  end
end
