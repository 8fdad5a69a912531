# frozen_string_literal: true

require "test_helper"
require "larder/lab/bench/pace"

module Larder
  module Lab
    module Bench
      class PaceTest < ActiveSupport::TestCase
        # A session: 10 s before and after the turns, and 2 s for each pass.
        COST = { starting: 6.0, preparing: 3.0, stopping: 1.0 }.freeze

        test "without a limit all passes of all sessions are measured" do
          assert_equal [6, 6, 6], played(pace(limit: nil, sessions: 3, needed: 3))
        end

        test "the first session has the passes that half of its time suffices for" do
          assert_equal 3, pace(limit: 72.0, pass_seconds: 2.0).passes
          assert_equal 6, pace(limit: 7200.0, pass_seconds: 2.0).passes
          assert_equal 2, pace(limit: 1.0, pass_seconds: 2.0).passes
        end

        test "passes are cut by all that a session takes, and come back when there is time" do
          assert_equal [2, 3, 3, 3, 3, 4], played(pace(limit: 97.0, pass_seconds: 4.0))
        end

        test "where two passes are too many, sessions are left out, but no more than may be" do
          assert_equal 5, played(pace(limit: 60.0)).size
          assert_equal 6, played(pace(limit: 60.0, needed: 6)).size
          assert_equal 6, played(pace(limit: 84.0)).size
        end

        private

        def pace(limit:, sessions: 6, needed: 5, pass_seconds: 1000.0)
          Pace.new(limit: limit, sessions: sessions, passes: 6, needed: needed, pass_seconds: pass_seconds)
        end

        # @return [Array<Integer>] passes of each session
        def played(pace)
          elapsed = 0.0
          [].tap do |sessions|
            until pace.over?
              passes = pace.passes
              turns = passes * 2.0
              elapsed += COST.values.sum + turns
              sessions << passes
              pace.end_session({ **COST, turns: turns }, elapsed)
            end
          end
        end
      end
    end
  end
end
