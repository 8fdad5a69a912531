# frozen_string_literal: true

# The two sockets of one connection, and their end. Loaded by the proxy's process, so plain Ruby without gems.

require "socket"
require_relative "lane"

module Larder
  module Lab
    class Proxy
      # A client, a server, and a {Lane} each way.
      class Connection
        # A close that sends RST instead of FIN.
        ABORT = [1, 0].pack("ii").freeze

        # Bytes go out at once, however few.
        # @param socket [BasicSocket]
        # @return [BasicSocket]
        def self.prompt(socket)
          socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) if tcp?(socket)
          socket
        end

        # Closes so that the other side sees a reset, where its kind of socket has that.
        # @param socket [BasicSocket]
        # @return [void]
        def self.abort(socket)
          socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, ABORT) if tcp?(socket)
          socket.close
        rescue SystemCallError, IOError
          nil
        end

        def self.tcp?(socket)
          socket.local_address.ip?
        end
        private_class_method :tcp?

        # @return [Array<Lane>] to the server, and back
        attr_reader :lanes

        # @param client [BasicSocket]
        # @param server [BasicSocket]
        # @param there [Link] to the server
        # @param back [Link]
        def initialize(client, server, there, back)
          @sockets = [client, server]
          @sockets.each { |socket| self.class.prompt(socket) }
          @lanes = [Lane.new(self, client, server, there), Lane.new(self, server, client, back)]
        end

        # @return [Lane] the other direction
        def opposite(lane)
          lanes.find { |each| !each.equal?(lane) }
        end

        # @return [void] breaks both sides off
        def reset
          @sockets.each { |socket| self.class.abort(socket) }
          @closed = true
        end

        # @return [Boolean] closes both sides when each has learnt of the end of the other
        def closed?
          return true if @closed
          return false unless lanes.all?(&:ended?)

          @sockets.each(&:close)
          @closed = true
        end
      end
    end
  end
end
