# frozen_string_literal: true

# The states of changes that the journal lists.

require "test_helper"
require "active_support/cache/larder_store"

class LarderRemoteJournalStateTest < ActiveSupport::TestCase
  State = Larder::Remote::Outbox::State

  test "a fresh change is due, a repetition and a late operation are due later, and nothing is never due" do
    assert State.due?(State.fresh)
    refute State.due?(State.repeated)
    refute State.due?(State.late)
    refute State.due?(State::NONE)
  end

  test "a time of an earlier start of the machine is over" do
    assert State.due?(["r", 0, "12345678"].pack("aQ<a8"))
    assert State.due?(["r", 1 << 60, "12345678"].pack("aQ<a8"))
    assert State.due?(["l", 1 << 60, "12345678"].pack("aQ<a8"))
  end

  test "the first of several states is due when the earliest is, and is none of them" do
    assert_equal State::NONE, State.first([State::NONE])
    fresh, repeated, late = State.fresh, State.repeated, State.late
    assert State.fresh?(State.first([late, fresh, repeated]))
    first = State.first([late, repeated, State::NONE])
    assert_equal repeated.byteslice(1, 8), first.byteslice(1, 8)
    refute_includes [late, repeated], first
    assert_equal [State::NONE.bytesize], [fresh, repeated, late, first].map(&:bytesize).uniq
  end

  test "of two states the stronger one waits for more, and for longer" do
    late, repeated, fresh = State.late, State.repeated, State.fresh
    [late, repeated, fresh].combination(2) do |weak, strong|
      assert_equal [strong, strong], [State.stronger(weak, strong), State.stronger(strong, weak)]
    end
    sooner = ["r", 1, "12345678"].pack("aQ<a8")
    assert_equal [repeated, repeated], [State.stronger(sooner, repeated), State.stronger(repeated, sooner)]
    assert_equal [fresh, late], [State.stronger(State.fresh, fresh), State.stronger("", late)]
    assert_equal late, State.stronger(nil, late)
  end

  test "an operation that was given up begins the state of its key again" do
    assert State.late?(State.expected(nil))
    [State.fresh, State.repeated, State.late].each do |before|
      after = State.expected(before)
      assert_equal before[0], after[0]
      refute_equal before, after
    end
  end
end
