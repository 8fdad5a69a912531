# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "larder/lab/session_stats/stores"

module Larder
  module Lab
    module SessionStats
      class StoresTest < ActiveSupport::TestCase
        test "Larder's answers are right, also at the beginning of a minute" do
          with_directory do |dir|
            row = Time.stub(:now, Time.at(1_700_000_040)) { Stores::LarderStore.new(dir: dir).open }
            assert_nothing_raised { row.prove(1) }
          end
        end
      end
    end
  end
end
