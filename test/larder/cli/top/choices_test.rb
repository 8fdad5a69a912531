# frozen_string_literal: true

require "test_helper"
require "support/usages"
require "larder/cli"

module Larder
  module CLI
    class Top
      # Keys of `larder top`, and the order that they choose.
      class ChoicesTest < ActiveSupport::TestCase
        ROWS = { "a" => { hits: 10, misses: 10, stores: 9, stored_bytes: 50, computes: 1, compute_us: 9 },
                 "b" => { hits: 90, misses: 1, evictions: 4 }, nil => { hits: 999 },
                 "c" => { stores: 1, stored_bytes: 900, evictions: 2 } }
               .map { |name, given| Row.new(name, Usages.counts(given), 10.0) }.freeze

        def order(*keys)
          choices = Choices.new
          keys.each { |key| choices.press(key) }
          choices.sorted(ROWS).map { |row| row.name || "others" }.join(" ")
        end

        test "each key sorts, the others stay last, and unknown values before them" do
          assert_equal ["b a c others", "a b c others", "a b c others", "c a b others", "b c a others", "a b c others"],
                       [order, order("m"), order("h"), order("b"), order("e"), order("c")]
        end

        test "the same key again, or an arrow, reverses" do
          assert_equal ["b a c others"] * 2, [order("h", "h"), order("h", :arrow)]
          assert_equal order("h"), order("h", "h", "h")
          assert_equal order("b"), order("r", "r", "b")
        end

        test "q and a terminal that is gone end" do
          assert_equal [:quit, :quit, nil, nil], ["q", :closed, "x", "\e"].map { |key| Choices.new.press(key) }
        end

        test "the help goes at the next key, which does nothing else" do
          choices = Choices.new
          choices.press("?")
          assert choices.help
          choices.press("m")
          assert_equal [false, "r"], [choices.help, choices.order]
        end

        test "space pauses and goes on, and k changes the view, as does an order" do
          choices = Choices.new
          seen = [" ", " ", "k", "k", "k", "r"].map { |key| choices.press(key) || [choices.paused, choices.keys] }
          on, off = true, false
          assert_equal [[on, off], [off, off], [off, on], [off, off], [off, on], [off, off]], seen
          assert choices.descending
        end
      end
    end
  end
end
