# frozen_string_literal: true

require "test_helper"
require "larder/lab/suites"

module Larder
  module Lab
    module Suites
      class ScalingTest < ActiveSupport::TestCase
        # A thread that waits for Ruby's lock begins late, and would else count the calls of a time of its own.
        test "the time begins for all callers at once: one that gets its turn when it is up makes no call" do
          store = ActiveSupport::Cache::MemoryStore.new
          scene = Struct.new(:store) { def keeps? = false }.new(store)
          calls, seconds = Scaling::Mix.new(scene, :hit, 0).run(now - 1, 0.5)
          assert_equal 0, calls
          assert_operator seconds, :>=, 1
        end
      end
    end
  end
end
