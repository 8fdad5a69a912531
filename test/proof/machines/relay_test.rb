# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/machines/network"

module Proof
  # The links of the proof of machines hold up, cut and pass on as they are ordered to.
  class MachinesRelayTest < ActiveSupport::TestCase
    include TemporaryDirectory

    Target = Struct.new(:port)
    LINK = [0, "first", "remote"].freeze

    setup do
      @listener = TCPServer.new("127.0.0.1", 0)
      target = Target.new(@listener.addr[1])
      @network = MachineProof::Network.new(MachineProof::Setting::SERVERS.to_h { |name| [name, target] },
                                           path_of("log"))
    end

    teardown do
      assert @network.close
      @listener.close
    end

    test "bytes pass in both directions, and so does the end" do
      client, server = connected
      exchange(client, server)
      client.close
      assert_nil server.gets
    end

    test "bytes that were held up arrive when the hold is over, although their client has gone" do
      client, server = connected
      @network.obstruct(LINK, "hold both")
      client.write("late\n")
      client.close
      assert_not server.wait_readable(0.1)
      @network.clear(LINK)
      assert_equal "late\n", server.gets
    end

    test "one direction is held up, the other passes" do
      client, server = connected
      @network.obstruct(LINK, "hold back")
      client.write("request\n")
      assert_equal "request\n", server.gets
      server.write("answer\n")
      assert_not client.wait_readable(0.1)
      @network.clear(LINK)
      assert_equal "answer\n", client.gets
    end

    test "only old connections are held up" do
      client, server = connected
      @network.obstruct(LINK, "hold old")
      client.write("late\n")
      exchange(*connected)
      assert_not server.wait_readable(0.1)
      @network.clear(LINK)
      assert_equal "late\n", server.gets
    end

    test "a link that is cut resets its connections and refuses others, and then takes them again" do
      client, = connected
      @network.obstruct(LINK, "cut")
      assert_raises(Errno::ECONNRESET) { client.readpartial(1) }
      assert_raises(Errno::ECONNRESET, EOFError) { connect.readpartial(1) }
      @network.clear(LINK)
      exchange(*connected)
      assert_equal [LINK + ["cut"]], @network.obstructions.map { |one| one.to_a.first(4) }
    end

    private

    def connect
      TCPSocket.new("127.0.0.1", @network.ports(0).fetch("first remote"))
    end

    def connected
      client = connect
      [client, @listener.accept]
    end

    def exchange(client, server)
      client.write("request\n")
      assert_equal "request\n", server.gets
      server.write("answer\n")
      assert_equal "answer\n", client.gets
    end
  end
end
