# frozen_string_literal: true

# Counters of Larder::Cache.

require "test_helper"

class LarderCacheCountersTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes

  MAX = (2**63) - 1
  MIN = -(2**63)

  test "a counter starts from its initial value" do
    assert_equal 1, cache.increment("a")
    assert_equal 110, cache.increment("b", 10, initial: 100)
    assert_equal(-1, cache.decrement("c"))
    assert_equal 7, cache.decrement("d", 3, initial: 10)
  end

  test "a counter counts up and down" do
    cache.increment("n", 5)
    assert_equal 8, cache.increment("n", 3, initial: 1000)
    assert_equal 6, cache.decrement("n", 2)
    assert_equal 4, cache.increment("n", -2)
    assert_equal 4, cache.increment("n", 0)
  end

  test "a counter reads as decimal text" do
    cache.increment("n", 42)
    assert_equal "42", cache.get("n")
    assert_equal({ "n" => "42" }, cache.get_multi(["n"]))
    cache.decrement("n", 50)
    assert_equal "-8", cache.get("n")
    assert cache.cas("n", "-8", "text")
    assert_equal "text", cache.get("n")
  end

  test "text that is a decimal integer becomes a counter" do
    { "5" => 6, "-3" => -2, "0" => 1, "9223372036854775806" => MAX }.each do |text, sum|
      cache.set("n", text)
      assert_equal sum, cache.increment("n")
    end
  end

  test "text that is none raises, and stays" do
    ["abc", "", " 1", "1 ", "1.5", "0x10", "9223372036854775808", "1" * 40, "1\0"].each do |text|
      cache.set("n", text)
      error = assert_raises(Larder::NotANumber, text.inspect) { cache.increment("n") }
      assert_match(/not a 64-bit decimal integer: key "n"/, error.message)
      assert_equal text, cache.get("n")
    end
  end

  test "counters reach both ends of 64 bits and not beyond" do
    assert_equal MAX, cache.increment("n", MAX)
    assert_raises(Larder::NotANumber) { cache.increment("n") }
    assert_equal MAX.to_s, cache.get("n")
    assert_equal MIN, cache.increment("m", MIN)
    assert_raises(Larder::NotANumber) { cache.decrement("m") }
    assert_equal MIN.to_s, cache.get("m")
  end

  test "no count is lost among processes and threads" do
    cache.set("n", "0")
    pids = 3.times.map do
      fork do
        4.times.map { Thread.new { 250.times { cache.increment("n") } } }.each(&:join)
        exit!(0)
      end
    end
    250.times { cache.increment("n") }
    pids.each { |pid| assert_predicate wait_for(pid), :success? }
    assert_equal "3250", cache.get("n")
  end
end
