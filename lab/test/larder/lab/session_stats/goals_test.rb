# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module SessionStats
      class GoalsTest < ActiveSupport::TestCase
        test "what lies below is reached, what lies above is missed, and an interval around it shows neither" do
          assert_equal :reached, Goals.judge(4.0, 5.0, 5.0)
          assert_equal :missed, Goals.judge(5.1, 6.0, 5.0)
          assert_equal :open, Goals.judge(4.9, 5.1, 5.0)
          assert_equal :open, Goals.judge(5.0, 5.1, 5.0)
        end

        test "goals and sentences are of questions that are asked" do
          asked = Times::QUESTIONS.keys
          assert_empty [*Goals::SECONDS.keys, *Report::TOLD, Times::USE] - asked
          assert_equal Options::QUESTIONS, asked.size
        end
      end
    end
  end
end
