# frozen_string_literal: true

require "test_helper"
require "larder/lab/layered/watching"

module Larder
  module Lab
    module Layered
      # How long a change was not seen, from times made by hand.
      class WatchingTest < ActiveSupport::TestCase
        test "an age lasts until the last read that answered what was before" do
          segments = [[0, 0.0, 1.4], [1, 1.5, 3.0]]
          ages = Watching.ages([[1, 0.9, 1.0]], segments).first
          assert_in_delta 0.4, ages.first
          assert_in_delta 0.5, ages.last
        end

        test "what was seen before the write had returned is not old" do
          assert_equal [[0.0, 0.0]], Watching.ages([[1, 0.9, 1.0]], [[0, 0.0, 0.8], [1, 0.95, 3.0]])
        end

        test "an old answer after a new one counts" do
          segments = [[0, 0.0, 0.8], [1, 1.0, 1.1], [0, 1.2, 1.3], [1, 1.4, 2.0]]
          assert_in_delta 0.3, Watching.ages([[1, 0.9, 1.0]], segments).first.first
        end

        test "a change that another one has overtaken is as old as what is before it" do
          segments = [[0, 0.0, 1.4], [2, 1.5, 3.0]]
          assert_in_delta 0.4, Watching.ages([[1, 0.9, 1.0], [2, 1.1, 1.2]], segments)[0].first
          assert_in_delta 0.2, Watching.ages([[1, 0.9, 1.0], [2, 1.1, 1.2]], segments)[1].first
        end
      end
    end
  end
end
