# frozen_string_literal: true

# Measures round trips of a small message to a process on this host that sends it back.

require "rbconfig"
require "socket"
require_relative "../clock"

module Larder
  module Lab
    module Advice
      # The part of a server's time that a network on this machine takes.
      module RoundTrip
        extend Clock

        # Round trips, and the seconds after which fewer will do.
        TRIPS = 200
        SECONDS = 0.2
        HOST = "127.0.0.1"
        MESSAGE = "x" * 100
        # Listens, says where, and sends back what it gets; ends with its standard input.
        ECHO = <<~RUBY
          require "socket"
          server = TCPServer.new("127.0.0.1", 0)
          puts server.addr[1]
          $stdout.flush
          Thread.new { $stdin.read; exit!(0) }
          client = server.accept
          client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
          while (bytes = client.readpartial(65_536))
            client.write(bytes)
          end
        RUBY
        private_constant :TRIPS, :SECONDS, :HOST, :MESSAGE, :ECHO

        module_function

        # @return [Array<Float>] seconds
        def measured
          echo = IO.popen([{ "RUBYOPT" => nil }, RbConfig.ruby, "--disable=gems", "-e", ECHO], "r+", err: File::NULL)
          client = TCPSocket.new(HOST, Integer(echo.gets))
          client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
          limit = now + SECONDS
          taken = [trip(client)]
          taken << trip(client) while taken.size < TRIPS && now < limit
          taken
        ensure
          [client, echo].each { |stream| stream&.close }
        end

        def trip(client)
          started = now
          client.write(MESSAGE)
          client.read(MESSAGE.bytesize)
          now - started
        end
        private_class_method :trip
      end
    end
  end
end
