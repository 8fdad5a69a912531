# frozen_string_literal: true

# Copies are trusted only when all is handled that came before.

require "support/backplane_case"

module LarderStore
  # Tests for every server.
  module BackplaneTrustTests
    extend ActiveSupport::Concern

    included do
      test "a process that goes on after a stop trusts no copy before its backlog is handled" do
        listener, reader, writer = peer("one"), peer("one"), listening("two")
        [listener, reader].each { |one| assert(eventually { one.call(:read, "none") || one.call(:trusted?) }) }
        keys = Array.new(BACKLOG) { |number| "k#{number}" }
        keys.each { |key| writer.write(key, "old") }
        reader.call(:read_multi, *keys)
        Process.kill(:STOP, listener.pid)
        stopped << listener.pid
        keys.each { |key| writer.write(key, "new") }
        assert(eventually { !reader.call(:trusted?) })
        old_ones = -> { keys.last(100).select { |key| reader.call(:read, key) == "old" } }
        Process.kill(:CONT, listener.pid)
        assert_empty old_ones.call until reader.call(:trusted?)
        assert_empty keys.select { |key| reader.call(:read, key) == "old" }
      end
    end

    # Messages that take a while to handle.
    BACKLOG = 2000
  end

  # With redis-client.
  class BackplaneTrustOverRedisTest < BackplaneCase
    include BackplaneTrustTests

    test "a server that refuses to be listened to is not trusted" do
      admin = RedisClient.new(path: @server.endpoint.fetch("socket"))
      admin.call("ACL", "SETUSER", "default", "-subscribe")
      reader = machine("one", error_handler: nil)
      writer = machine("two", error_handler: nil)
      writer.write("k", "old")
      assert_equal "old", reader.read("k")
      writer.write("k", "new")
      assert_equal "new", reader.read("k")
      admin.call("ACL", "SETUSER", "default", "+subscribe")
      assert(eventually { reader.cache.trusted? })
    ensure
      admin&.close
    end

    test "messages without an answer to a question do not cause trust" do
      talker = TCPServer.new("127.0.0.1", 0)
      talks = Thread.new { loop { Thread.new(talker.accept) { |client| talk(client) }.report_on_exception = false } }
      reader = machine("one", backplane: "redis://127.0.0.1:#{talker.addr[1]}", error_handler: nil)
      far = ActiveSupport::Cache.lookup_store(:file_store, path_of("remote"), coder: Larder::Coder.new)
      50.times do |number|
        far.write("k", number)
        assert_equal number, reader.read("k")
        Kernel.sleep(0.02)
      end
      assert_operator @talked, :>, 10
    ensure
      talks&.kill
      talker&.close
    end

    test "machines whose namespaces differ tell each other of a key that one names for the other" do
      one, two = listening("one", namespace: "a"), listening("two", namespace: "b")
      two.write("k", "old")
      assert_equal "old", one.read("k", namespace: "b")
      two.write("k", "new")
      assert(eventually { one.read("k", namespace: "b") == "new" })
      one.delete("k", namespace: "b")
      assert(eventually { two.read("k").nil? })
    end

    private

    # A server that greets and subscribes a client, and then sends messages and nothing else.
    def talk(client)
      until (command = command_of(client)).first == "SUBSCRIBE"
        client.write(command.first == "HELLO" ? "%0\r\n" : "+PONG\r\n")
      end
      client.write(">3\r\n+subscribe\r\n+larder\r\n:1\r\n")
      message = JSON.generate([1, "other", "keys", [["j"].pack("m0")]])
      loop do
        client.write(">3\r\n+message\r\n+larder\r\n$#{message.bytesize}\r\n#{message}\r\n")
        @talked = @talked.to_i + 1
        Kernel.sleep(0.02)
      end
    end

    def command_of(client)
      Array.new(client.gets[1..].to_i) { client.read(client.gets[1..].to_i + 2).chomp }
    end
  end

  # With the gem pg.
  class BackplaneTrustOverPostgresqlTest < BackplaneCase
    include TestServers::Postgresql
    include BackplaneTrustTests

    test "a namespace may be of any length" do
      one, two = Array.new(2) { |number| listening("machine#{number}", namespace: "long" * 100) }
      one.write("k", "old")
      assert_equal "old", two.read("k")
      one.write("k", "new")
      assert(eventually { two.read("k") == "new" })
    end
  end
end
