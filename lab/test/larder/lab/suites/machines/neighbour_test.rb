# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Suites
      module Machines
        # Processes for real.
        class NeighbourTest < ActiveSupport::TestCase
          test "it works in a process of its own, at the same time, and ends" do
            here, there = Neighbour.beside(-> { Process.pid }) { Process.pid }
            assert_equal Process.pid, here
            assert_raises(Errno::ESRCH) { Process.kill(0, there) }
          end

          test "one that fails says why, and one that ends is noticed" do
            assert_match(/the other machine: .*Unavailable: no server/, invalid(-> { raise Unavailable, "no server" }))
            assert_match(/the process of the other machine ended/, invalid(-> { Process.kill(:KILL, Process.pid) }))
          end

          private

          def invalid(work) = assert_raises(Invalid) { Neighbour.beside(work) { nil } }.message
        end
      end
    end
  end
end
