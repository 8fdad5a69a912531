# frozen_string_literal: true

# Single flight among machines over a Redis that runs no scripts for them.

require "active_support/cache/larder_store/remote_flight_test"

module LarderStore
  # All tests of RemoteFlightTest, for a user without EVAL and EVALSHA. The first refusal is reported.
  class RemoteFlightStepsTest < RemoteFlightTest
    setup { redis.call("ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-@scripting") }

    test "machines with scripts and machines without them wait for each other" do
      with = machine("with", remote: [:redis_cache_store, { url: @server.endpoint["url"] }])
      { "a" => [with, @one], "b" => [@one, with] }.each do |key, (owner, other)|
        waiting = nil
        made = owner.fetch(key, OPTIONS) do
          (waiting = Thread.new { other.fetch(key, OPTIONS) { flunk } }) && Kernel.sleep(0.1) && "made"
        end
        assert_equal %w[made made], [made, waiting.value]
      end
      assert_equal [true, false], [with, @one].map { |store| store.remote.scripted_leases.usable? }
    end

    test "the refusal is reported once" do
      errors = reported { %w[a b c].each { |key| assert_equal(1, @one.fetch(key, OPTIONS) { 1 }) } }
      assert_equal 1, errors.size
      assert_match(/runs no scripts for LarderStore.*EVALSHA/, errors.first.to_s)
    end

    private

    def redis
      Redis.new(url: @server.endpoint["url"])
    end

    def remote
      [:redis_cache_store, { url: @server.endpoint["url"], username: "plain", password: "secret" }]
    end
  end
end
