# frozen_string_literal: true

require "test_helper"
require "redis"
require_relative "../../../proof/sessions/shared_driver"

module Proof
  # Two machines of the proof, with copies on each, look alike where they have to.
  class SessionMachinesTest < ActiveSupport::TestCase
    include TemporaryCaches

    SUBJECT = SessionProof::Subject
    # Seconds that the world's time is ahead, where an operation waits for an outage.
    BEHIND = 30
    ID = "2/66"

    setup do
      skip "redis-server is not installed" unless SessionProof::Machines::Store.path

      @machines = SessionProof::Machines.new(directory, copies: true)
      @machines.start
      @subject = SessionProof::SharedDriver::Subject.new(@machines, Random.new(1))
      @began = @subject.now = Time.now.to_i
    end

    teardown { @machines&.stop }

    { "of nobody" => [{ "n" => 66 }, SUBJECT::ANONYMOUS], "of a user" => [{ "user_id" => 5 }, SUBJECT::IDLE] }
      .each do |whose, (values, timeout)|
      lives = timeout * (1 + SUBJECT::TOLERANCE)

      test "the proof's clock alone ends a session #{whose}, on both machines, with a copy and without one" do
        assert @subject.ask(0, :change, :begin, nil, ID, values, [])
        assert_equal [values] * 2, found
        world_goes_on(lives - 1 + BEHIND)
        remove_copies(1)
        @subject.now = @began + lives.to_i - 1
        assert_equal [values] * 2, found
        @subject.now += 1
        assert_equal [nil] * 2, found
      end
    end

    private

    # On each machine.
    def found
      Array.new(2) { |machine| @subject.ask(machine, :find, [ID]).first }
    end

    # As if the store had kept its entries for so many seconds.
    def world_goes_on(seconds)
      redis = ::Redis.new(url: @machines.instance_variable_get(:@store).url)
      redis.scan_each(match: "session/*") { |key| redis.pexpire(key, redis.pttl(key) - (seconds * 1000).to_i) }
    ensure
      redis&.close
    end

    # As a message of another machine does.
    def remove_copies(machine)
      cache = Larder::Cache.open(File.join(directory, "machine-#{machine}.larder"))
      cache.clear
    ensure
      cache&.close
    end
  end
end
