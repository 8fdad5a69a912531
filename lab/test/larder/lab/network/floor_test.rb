# frozen_string_literal: true

require "test_helper"
require "larder/lab/network/floor"

module Larder
  module Lab
    module Network
      class FloorTest < ActiveSupport::TestCase
        test "a round trip to a process on this host takes a while, and the process is gone afterwards" do
          trips = Floor.straight
          assert_operator trips.size, :>=, 1
          assert trips.all?(&:positive?)
          assert_raises(Errno::ECHILD) { Process.wait(-1, Process::WNOHANG) }
        end
      end
    end
  end
end
