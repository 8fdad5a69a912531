# frozen_string_literal: true

# Asks a private Redis what it has counted, over a socket of its own, without a client library.

require "socket"
require_relative "../errors"

module Larder
  module Lab
    module Layered
      # Commands, connections and memory, as INFO tells them.
      class Counters
        # @param target [String] path of a Unix socket, or host:port
        def initialize(target)
          @target = target
        end

        # @return [Hash{String=>Integer}] calls by command, in lower case: "get", "set", "publish"
        def commands
          info("commandstats").scan(/^cmdstat_(\S+):calls=(\d+)/).to_h.transform_values(&:to_i)
        end

        # @return [Integer] connections but the one that asks
        def connections
          Integer(info("clients")[/^connected_clients:(\d+)/, 1]) - 1
        end

        # @return [Integer] connections that listen to channels
        def listeners
          Integer(info("clients")[/^pubsub_clients:(\d+)/, 1] || ask("CLIENT LIST TYPE pubsub").lines.count)
        end

        # @return [Integer] bytes that the server has for connections without a subscription
        def connection_bytes
          Integer(info("memory")[/^mem_clients_normal:(\d+)/, 1])
        end

        # @return [Integer] bytes that the server has sent since it began
        def sent_bytes
          Integer(info("stats")[/^total_net_output_bytes:(\d+)/, 1])
        end

        private

        def info(section)
          ask("INFO #{section}")
        end

        # One command; the answer is a bulk string.
        def ask(command)
          socket = connect
          socket.write("#{command}\r\n")
          size = socket.gets.to_s[/\A\$(\d+)/, 1] or raise Invalid, "Redis does not answer #{command}"
          socket.read(Integer(size))
        rescue SystemCallError => error
          raise Invalid, "Redis does not answer #{command}: #{error.message}"
        ensure
          socket&.close
        end

        def connect
          return UNIXSocket.new(@target) if @target.start_with?("/")

          host, _, port = @target.rpartition(":")
          TCPSocket.new(host, Integer(port))
        end
      end
    end
  end
end
