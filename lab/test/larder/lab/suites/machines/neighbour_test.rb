# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Suites
      module Machines
        # Processes for real.
        class NeighbourTest < ActiveSupport::TestCase
          test "it works in a process of its own, and ends" do
            pid = Neighbour.with(-> { ->(*words) { [Process.pid, words] } }) do |neighbour|
              neighbour.go(1, "two")
              other, words = neighbour.answer
              assert_equal [1, "two"], words
              other
            end
            assert_not_equal Process.pid, pid
            assert_raises(Errno::ESRCH) { Process.kill(0, pid) }
          end

          test "one that fails, early or late, says why; one that ends is noticed" do
            failing = -> { raise Unavailable, "no server" }
            assert_match(/the other machine: .*Unavailable: no server/, invalid(failing))
            assert_match(/the other machine: KeyError: key not found/, invalid(-> { -> { {}.fetch("x") } }))
            ending = -> { -> { Process.kill(:KILL, Process.pid) } }
            assert_match(/the process of the other machine ended/, invalid(ending))
          end

          private

          def invalid(work)
            error = assert_raises(Invalid) do
              Neighbour.with(work) do |neighbour|
                neighbour.go
                neighbour.answer
              end
            end
            error.message
          end
        end
      end
    end
  end
end
