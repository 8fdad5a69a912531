# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

class LarderStoreFlightTest < ActiveSupport::TestCase
  include Processes

  Flight = Larder::Store::Flight

  def records
    @records ||= Object.new
  end

  def flight(**terms)
    Flight.new(records, "key", **terms)
  end

  test "only a flight without a token takes no part in single flight" do
    assert_equal [false, true, true], [flight, flight(token: nil), flight(token: "lease")].map(&:leased?)
    assert_equal [nil, nil, "lease"], [flight, flight(token: nil), flight(token: "lease")].map(&:token)
  end

  test "a forked child has no right to the lease, and still knows that there is one" do
    held = flight(token: "lease")
    assert_equal([nil, true, false], in_child { [held.token, held.leased?, held.own?] })
  end

  test "it computes a key of one file" do
    assert flight.of?(records, "key")
    refute flight.of?(records, "other")
    refute flight.of?(Object.new, "key")
  end

  test "its key stays as it was" do
    key = +"key"
    one = Flight.new(records, key)
    key << " changed"
    assert_equal "key", one.key
  end

  test "it is over when the seconds of a read have passed, and without any never" do
    assert_equal [true, false, false], [flight(seconds: -1), flight(seconds: 60), flight].map(&:over?)
  end

  test "it belongs to the fiber that began it" do
    other = Fiber.new { flight }.resume
    assert_equal [true, false], [flight, other].map { |one| one.fiber.equal?(Fiber.current) }
  end
end
