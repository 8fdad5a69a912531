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

        test "the time left is that of the sessions which are still measured" do
          pace = pace(limit: 1000.0)
          assert_in_delta 1000.0, pace.left(0), 1.0
          pace.end_session({ **COST, turns: 4.0 }, 14.0)
          pace.begin_session
          assert_in_delta 5 * 22.0, pace.left(0, 0.0), 1.0
        end

        test "in the first session the time left follows from the blocks that are done" do
          assert_in_delta 230.0, pace(limit: nil).left(0.25, 10.0), 1.0
          assert_in_delta 90.0, pace(limit: 100.0, needed: 1).left(0.25, 10.0), 1.0
          assert_in_delta 190.0, pace(limit: 100.0, needed: 5).left(0.25, 10.0), 1.0
        end

        test "before a block is done, the rest of each session is taken to last as long as its start" do
          pace = pace(limit: 1.0)
          pace.during(:starting) { sleep 0.3 }
          assert_operator pace.left(0, 0.5), :>=, (5 * 0.6) - 0.5
        end

        test "a run that takes longer than it may says how much" do
          pace = pace(limit: 20.0)
          pace.end_session({ **COST, turns: 4.0 }, 14.0)
          assert_in_delta 4 * 14.0 / 20.0, pace.overrun(0), 0.1
          assert_in_delta 1.0, pace(limit: 1000.0).overrun(0), 0.01
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
