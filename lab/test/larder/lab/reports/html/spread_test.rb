# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Reports
      class Html
        class SpreadTest < ActiveSupport::TestCase
          test "names that are apart stay where they are" do
            assert_equal [10.0, 50.0, 30.0], Spread.apart([10, 50, 30], [18, 18, 18], 0, 100)
          end

          test "names on one place are set around it, in their order" do
            assert_equal [41.0, 59.0], Spread.apart([50, 50], [18, 18], 0, 100)
            assert_equal [9.0, 27.0, 53.0], Spread.apart([2, 3, 30], [18, 18, 34], 0, 100)
          end

          test "no name leaves the room, and none lies on another, while there is room for all" do
            random = Random.new(1)
            200.times do
              wanted = Array.new(12) { random.rand(0..300) }
              heights = Array.new(12) { [18, 34].sample(random: random) }
              places = Spread.apart(wanted, heights, 0, 420)
              edges = places.zip(heights.map { |height| height / 2.0 }).sort.map { |at, half| [at - half, at + half] }
              assert_operator edges.first.first, :>=, -0.01
              assert_operator edges.last.last, :<=, 420.01
              edges.each_cons(2) { |one, other| assert_operator one.last, :<=, other.first + 0.01 }
            end
          end
        end
      end
    end
  end
end
