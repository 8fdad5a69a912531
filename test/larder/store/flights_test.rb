# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

class LarderStoreFlightsTest < ActiveSupport::TestCase
  include Processes

  Flight = Larder::Store::Flight
  Flights = Larder::Store::Flights

  # Records that note which leases were ended.
  class Records
    attr_reader :ended

    def lease_end(key, token, fresh_ms, _now)
      (@ended ||= []) << [key, token, fresh_ms]
      true
    end
  end

  def records
    @records ||= Records.new
  end

  def flight(key = "key", **terms)
    Flight.new(records, key, **terms)
  end

  # Each test runs in a thread of its own, which has begun no flight.
  def in_thread(&block)
    Thread.new(&block).value
  end

  test "a thread has its own, and none before it began one" do
    in_thread do
      assert_nil Flights.begun
      assert_empty Flights.held
      mine = Flights.current.add(flight(token: "lease"))
      assert_equal [[mine], nil], [Flights.held, in_thread { Flights.begun }]
      Flights.current.give_up(mine)
    end
  end

  test "the last flight with a lease is that of a key, for the fiber that has begun it" do
    in_thread do
      first, last = %w[one two].map { |token| Flights.current.add(flight(token: token)) }
      Flights.current.add(flight)
      assert_same last, Flights.of(records, "key")
      assert_nil Flights.of(Records.new, "key")
      assert_nil(Fiber.new { Flights.of(records, "key") }.resume)
      Flights.current.give_up_each([first, last])
    end
  end

  test "a read has announced the write of its key, in its fiber" do
    in_thread do
      block = Flights.current.add(flight(token: "lease"))
      refute_predicate Flights.current, :announced?
      first, last = [nil, "two"].map { |token| Flights.current.add(flight(token: token, option: :single_flight)) }
      assert_predicate Flights.current, :announced?
      assert_equal [first, last], Flights.current.announced(records, "key")
      assert_empty Flights.current.announced(records, "other")
      assert_empty(Fiber.new { Flights.current.announced(records, "key") }.resume)
      Flights.current.give_up_each([block, first, last])
    end
  end

  test "a write stores the value of the innermost block of its key in its fiber" do
    in_thread do
      leased = Flights.current.add(flight(token: "lease"))
      assert_same leased, Flights.begun&.for_write(records, "key")
      assert_nil(Fiber.new { Flights.begun&.for_write(records, "key") }.resume)
      plain = Flights.current.add(flight)
      assert_same plain, Flights.begun&.for_write(records, "key")
      Flights.current.give_up(leased)
      assert_equal [true, false], [leased.ended, plain.ended]
    end
  end

  test "the work that ends gives up reads that it has begun, and no block" do
    in_thread do
      before = Flights.current.add(flight("before", token: "lease", option: :single_flight))
      Flights.begin_work
      block = Flights.current.add(flight("block", token: "lease"))
      Flights.current.add(flight("read", token: "lease", option: :single_flight))
      Flights.end_work
      assert_equal [["read", "lease", 0]], records.ended
      assert_equal [before, block], Flights.held
      Flights.end_work # which another fiber has begun
      assert_equal [block], Flights.held
      Flights.current.give_up(block)
    end
  end

  test "one that is given up ends its lease, once, and not that of another process" do
    in_thread do
      held = Flights.current.add(flight(token: "lease"))
      Flights.current.give_up(held, 5)
      Flights.current.give_up(held)
      assert_equal [["key", "lease", 5000]], records.ended
      parents = Flights.current.add(flight(token: "lease"))
      assert_equal(1, in_child { Flights.current.give_up(parents).then { records.ended.size } })
      Flights.current.give_up(parents)
    end
  end

  test "a block is on its flight until it ends, however it does" do
    in_thread do
      inside = Flights.within(flight(stamp: "before")) { Flights.current.stamp_of(records, "key", follows_read: false) }
      assert_equal "before", inside
      assert_raises(IOError) { Flights.within(flight(stamp: "before")) { raise IOError } }
      assert_nil Flights.current.stamp_of(records, "key", follows_read: false)
    end
  end

  test "the stamp of a write is that of its read, of the block of its key, or of the innermost block" do
    in_thread do
      Flights.current.note_read(flight("read", stamp: "read"))
      Flights.within(flight("outer", stamp: "outer")) do
        Flights.within(flight("inner", stamp: "inner")) do
          stamps = %w[read outer other].map { |key| Flights.current.stamp_of(records, key, follows_read: true) }
          assert_equal %w[read outer inner], stamps
          assert_equal "inner", Flights.current.stamp_of(records, "read", follows_read: true), "a read counts once"
        end
      end
    end
  end

  test "reads that no write has followed are forgotten when the work ends that has begun them" do
    in_thread do
      stamp_of = ->(key) { Flights.current.stamp_of(records, key, follows_read: true) }
      Flights.current.note_read(flight("before", stamp: "before"))
      2.times do |number|
        Flights.begin_work
        Flights.current.note_read(flight(number.to_s, stamp: number.to_s))
      end
      Flights.end_work
      assert_nil stamp_of.call("1")
      assert_equal "0", stamp_of.call("0")
      Flights.current.note_read(flight("0", stamp: "again"))
      Flights.end_work
      assert_nil stamp_of.call("0")
      assert_equal "before", stamp_of.call("before")
    end
  end

  test "the next lease of a key whose value took too long is twice as long" do
    slow = flight("slow", token: "lease")
    slow.define_singleton_method(:age) { 3.0 }
    Flights.note_overrun(slow, 5)
    assert_equal 1.0, Flights.seconds("slow", 1.0)
    Flights.note_overrun(slow, 2)
    assert_equal [6.0, 10.0], [1.0, 10.0].map { |given| Flights.seconds("slow", given) }
    assert_equal 1.0, Flights.seconds("key", 1.0)
  end
end
