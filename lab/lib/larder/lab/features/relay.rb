# frozen_string_literal: true

# Forwards connections from another address of the loopback interface to a server, as if the server were on another
# machine. Neither delays nor counts.

require "socket"

module Larder
  module Lab
    module Features
      # Passes bytes on in threads of this process.
      class Relay
        # Not the address at which private servers listen. Where a system has only one, that one.
        ADDRESSES = ["127.0.0.2", "127.0.0.1"].freeze

        # Yields while it passes on.
        # @param endpoint [Hash{String=>Object}] see {Endpoint}
        # @yieldparam host [String]
        # @yieldparam port [Integer]
        # @return [Object] what the block answers
        def self.open(endpoint)
          relay = new(endpoint)
          yield relay.host, relay.port
        ensure
          relay&.close
        end

        # @return [String]
        attr_reader :host
        # @return [Integer]
        attr_reader :port

        # @param endpoint [Hash{String=>Object}]
        def initialize(endpoint)
          @endpoint = endpoint
          @server = listen
          @host, @port = @server.addr.values_at(3, 1)
          @threads = [Thread.new { accept }]
        end

        # @return [void]
        def close
          @threads.each(&:kill)
          @server.close
        end

        private

        def listen
          TCPServer.new(ADDRESSES.first, 0)
        rescue SystemCallError
          TCPServer.new(ADDRESSES.last, 0)
        end

        def accept
          loop do
            client = @server.accept
            target = @endpoint["socket"] ? UNIXSocket.new(@endpoint["socket"]) : connect
            @threads << Thread.new { pass(client, target) } << Thread.new { pass(target, client) }
          rescue SystemCallError
            client&.close
          end
        end

        def connect
          TCPSocket.new(@endpoint["host"], @endpoint["port"])
        end

        def pass(from, to)
          IO.copy_stream(from, to)
        rescue SystemCallError, IOError
          nil # one side has gone
        ensure
          [from, to].each(&:close)
        end
      end
    end
  end
end
