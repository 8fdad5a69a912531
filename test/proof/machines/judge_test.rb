# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/machines/judge"
require_relative "../../../proof/machines/network"
require_relative "../../../proof/machines/server"

module Proof
  # The judge of machines on ledgers written by hand: each rule finds a lie, and none finds one in what may happen.
  class MachinesJudgeTest < ActiveSupport::TestCase
    include MachineProof

    LIFE = Setting::LIFE
    NAME = "k0"

    setup do
      @operations = []
      @servers = Setting::SERVERS.to_h { |name| [name, Server::Record.new([life(0)], [], [])] }
      @obstructions, @stops, @deaths, @delays = Array.new(4) { [] }
    end

    test "a value that was just written is read everywhere" do
      write("a", 1)
      2.times { |machine| read("a", 2, machine: machine) }
      assert_empty rules
    end

    test "a machine does not read what it has deleted, and another one may for local_expires_in" do
      write("a", 1)
      change(:delete, 2)
      settle(3)
      read("a", 3.5, machine: 1)
      assert_empty rules
      read("a", 3.6, machine: 0)
      assert_equal [:own], rules
    end

    test "each change of a machine ends the version of before for both its processes" do
      %i[delete delete_multi delete_tagged clear].each do |kind|
        @operations.clear
        write("a", 1, machine: 1)
        change(kind, 2, role: "writing")
        read("a", 3)
        assert_equal [:own], rules, kind
      end
    end

    test "a replaced version is not read where it was replaced" do
      write("a", 1)
      write("b", 2)
      read("b", 3)
      assert_empty rules
      read("a", 4)
      assert_equal [:own], rules
    end

    test "a delete and a write at the same time leave either" do
      write("a", 1, seconds: 2, machine: 1)
      change(:delete, 2, seconds: 0.1)
      settle(2.5)
      read("a", 4)
      assert_empty rules
    end

    test "a call without an answer, or that raised, does not count as a delete" do
      write("a", 1)
      change(:delete, 2).ended = nil
      @deaths << ["m0-serving", 3]
      read("a", 4)
      assert_empty rules
      change(:delete, 5, result: "raised IOError: closed stream")
      read("a", 6)
      assert_equal [:raises], rules
    end

    test "no machine reads a version longer than local_expires_in after it was deleted" do
      write("a", 1)
      change(:delete, 2)
      settle(3)
      read("a", 3 + LIFE, machine: 1)
      assert_empty rules
      read("a", 3.2 + LIFE, machine: 1)
      assert_equal [:age], rules
    end

    test "a change counts from when the journal of its machine lists nothing" do
      write("a", 1)
      change(:delete, 2)
      settle(3, waiting: true)
      settle(20)
      read("a", 20 + LIFE, machine: 1)
      assert_empty rules
      read("a", 20.2 + LIFE, machine: 1)
      assert_equal [:age], rules
    end

    test "a machine with a shorter life is held to that" do
      write("a", 1)
      change(:delete, 2)
      settle(3)
      read("a", 3.2 + (LIFE / 2), machine: 1, configuration: "shorter")
      assert_equal [:age], rules
    end

    test "FLUSHALL is a change" do
      write("a", 1)
      @servers["first"].flushes << [2, 3]
      read("a", 3 + LIFE)
      assert_empty rules
      read("a", 3.2 + LIFE)
      assert_equal [:age], rules
    end

    test "a version in a snapshot may be read after its server was started from that, also where it was deleted" do
      write("a", 1)
      change(:delete, 3)
      settle(4)
      restart(5..6, snapshot: 2)
      read("a", 60)
      assert_empty rules
    end

    test "a version deleted while the server was dead is not read after it was started from a snapshot" do
      write("a", 1)
      restart(5..6, snapshot: 2)
      change(:delete, 5.2, seconds: 0.1)
      read("a", 7)
      assert_equal [:own], rules
    end

    test "a version deleted after the server was started from a snapshot is not read" do
      write("a", 1)
      restart(5..6, snapshot: 2)
      change(:delete, 7)
      settle(8)
      read("a", 8.5)
      assert_equal [:own], rules
      read("a", 8.2 + LIFE, machine: 1)
      assert_equal %i[own age], rules
    end

    test "a version written after a snapshot is lost with the server, and not read longer than local_expires_in" do
      write("a", 3)
      restart(5..6, snapshot: 2)
      read("a", 5 + LIFE)
      assert_empty rules
      read("a", 5.2 + LIFE)
      assert_equal [:age], rules
    end

    test "a version deleted before the snapshot is not in it" do
      write("a", 1)
      change(:delete, 1.5)
      settle(1.8)
      restart(5..6, snapshot: 2)
      read("a", 1.7 + LIFE, machine: 1)
      assert_empty rules, "a copy may be that old"
      read("a", 7, machine: 1)
      assert_equal [:age], rules
    end

    test "no version of before is read after a server was started empty" do
      write("a", 1)
      restart(5..6)
      read("a", 5 + LIFE)
      read("a", 5.2 + LIFE)
      assert_equal [:age], rules
    end

    test "a write that was held up may arrive after another machine's delete, and after the hold is over no longer" do
      hold(1..6)
      write("a", 1, machine: 1, errors: ["Larder::RemoteError"])
      change(:delete, 3)
      settle(4)
      read("a", 20)
      assert_empty rules
      change(:delete, 21)
      read("a", 22)
      assert_equal [:own], rules
    end

    test "a write that failed and is soon over is not read by its machine after a delete" do
      hold(1..1.6)
      write("a", 1, errors: ["Larder::RemoteError"])
      change(:delete, 2)
      settle(3)
      read("a", 4)
      assert_equal [:own], rules
    end

    test "a machine without a remote store reads only its own file, as long as no process of it has changed the key" do
      write("a", 1, configuration: "without-remote")
      read("a", 500, configuration: "without-remote")
      assert_empty rules
      change(:delete, 501)
      read("a", 502, configuration: "without-remote")
      assert_equal [:own], rules
    end

    test "no machine reads what another configuration has written elsewhere" do
      %w[namespace url without-remote].each do |configuration|
        @operations.clear
        write("a", 1, configuration: configuration)
        read("a", 2, domain: domain(configuration))
        assert_equal [:foreign], rules, configuration
      end
    end

    test "no read answers another key's version, one that was never written, one of later, or other bytes" do
      write("a", 1)
      read("a", 2, name: "k1", of: NAME)
      read("b", 2)
      read("a", 0.2)
      read(nil, 2).found = { NAME => "garbage" }
      assert_equal %i[foreign] * 4, rules
    end

    test "a call may take as long as the client waits, and not longer" do
      read(nil, 1, seconds: 1.5)
      change(:write, 1, seconds: 3.5)
      assert_empty rules
      read(nil, 10, seconds: 4)
      change(:write, 10, seconds: 6)
      assert_equal %i[deadline deadline], rules
    end

    test "the time of a process that was stopped does not count, nor that of a machine that lets it wait" do
      read(nil, 1, seconds: 6)
      @stops << ["m0-serving", 2, 7]
      assert_empty rules
      @stops.clear
      @delays << [3, 0.5]
      assert_empty rules
    end

    test "an exception that reaches the caller is found" do
      change(:delete, 1).result = "raised IOError: closed stream"
      assert_equal [:raises], rules
    end

    private

    def rules
      Judge.new(Evidence.new(operations: @operations, servers: @servers, obstructions: @obstructions, stops: @stops,
                             deaths: @deaths, delays: @delays)).findings.map(&:rule)
    end

    def operation(kind, began, seconds: 0.1, machine: 0, role: "serving", configuration: Setting::USUAL, **fields)
      Operation.new(process: "m#{machine}-#{role}", machine: machine, role: role, configuration: configuration,
                    kind: kind, names: [NAME], versions: {}, began: began, ended: began + seconds, seconds: seconds,
                    found: {}, errors: [], made: {}, **fields).tap { |made| @operations << made }
    end

    def write(version, began, **fields)
      operation(:write, began, versions: { NAME => version }, **fields)
    end

    def change(kind, began, **fields)
      operation(kind, began, **fields)
    end

    def read(version, began, name: NAME, of: name, configuration: Setting::USUAL, domain: nil, **fields)
      found = version && [domain || domain(configuration), of, version]
      operation(:read, began, configuration: configuration, **fields).tap { |made| made.found = { name => found } }
    end

    def settle(ended, waiting: false)
      operation(:stats, ended - 0.1, result: { "waiting" => waiting })
    end

    def domain(configuration)
      Setting::CONFIGURATIONS.fetch(configuration).domain(0)
    end

    def life(starts, snapshot = nil)
      Server::Life.new(starts, Float::INFINITY, Float::INFINITY, snapshot)
    end

    def restart(dead, snapshot: nil)
      lives = @servers["first"].lives
      lives.last.ends = lives.last.gone = dead.begin
      taken = snapshot && Server::Snapshot.new("", lives.size - 1, snapshot, snapshot + 0.1)
      lives << life(dead.end, taken)
    end

    def hold(times)
      @obstructions << Network::Obstruction.new(1, "first", "remote", "hold both", times.begin, times.end)
      @obstructions << Network::Obstruction.new(0, "first", "remote", "hold both", times.begin, times.end)
    end
  end
end
