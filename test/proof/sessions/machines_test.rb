# frozen_string_literal: true

require "test_helper"
require "redis"
require_relative "../../../proof/sessions/shared_driver"

module Proof
  # Two machines of the proof, with copies on each, look alike where they have to.
  class SessionMachinesTest < ActiveSupport::TestCase
    include Processes
    include TemporaryCaches

    SUBJECT = SessionProof::Subject
    # Seconds that the world's time is ahead, where an operation waits for an outage.
    BEHIND = 30
    ID = "2/66"
    # How the keys of copies of sessions begin.
    SESSION = "session/#{"s/".unpack1("H*")}".freeze

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

    test "a sign-out that the store did not take is answered as unknown" do
      assert @subject.ask(0, :change, :begin, nil, ID, { "user_id" => 5 }, [])
      assert(eventually { found == [{ "user_id" => 5 }] * 2 && copy?(0) })
      @machines.outage("stop", Random.new(1)) do
        assert(eventually { copied?(0) })
        assert_raises(SessionProof::Machines::Unknown) { @subject.ask(0, :change, :commit, ID, nil, {}, ["user_id"]) }
      end
    end

    test "a change of a session that has ended is refused" do
      assert @subject.ask(0, :change, :begin, nil, ID, { "user_id" => 5 }, [])
      assert_equal true, @subject.ask(1, :change, :end, ID, nil, {}, [])
      assert_equal false, @subject.ask(1, :change, :commit, ID, nil, {}, ["user_id"])
    end

    private

    # On each machine.
    def found
      Array.new(2) { |machine| @subject.ask(machine, :find, [ID]).first }
    end

    # As if the store had kept its entries for that many seconds.
    def world_goes_on(seconds)
      redis = ::Redis.new(url: @machines.instance_variable_get(:@store).url)
      redis.scan_each(match: "session/*") { |key| redis.pexpire(key, redis.pttl(key) - (seconds * 1000).to_i) }
    ensure
      redis&.close
    end

    # As a message of another machine does.
    def remove_copies(machine)
      cache_of(machine, &:clear)
    end

    # A machine may keep none while its listener connects.
    def copy?(machine)
      cache_of(machine) { |cache| cache.each_key.any? { |key| key.start_with?(SESSION) } }
    end

    # @yieldparam cache [Larder::Cache] the machine's copies
    def cache_of(machine)
      cache = Larder::Cache.open(File.join(directory, "machine-#{machine}.larder"))
      yield cache
    ensure
      cache&.close
    end

    # While the store is stopped.
    def copied?(machine)
      @subject.ask(machine, :find, [ID]).first
    rescue SessionProof::Machines::Unknown
      false
    end
  end
end
