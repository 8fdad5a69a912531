# frozen_string_literal: true

require "test_helper"
require "larder/lab/advice/round_trip"

module Larder
  module Lab
    module Advice
      class RoundTripTest < ActiveSupport::TestCase
        test "a round trip to a process on this host takes a while, and the process is gone afterwards" do
          trips = RoundTrip.measured
          assert_operator trips.size, :>=, 1
          assert trips.all?(&:positive?)
          assert_raises(Errno::ECHILD) { Process.wait(-1, Process::WNOHANG) }
        end
      end
    end
  end
end
