# frozen_string_literal: true

# Measures what the proxy itself adds: round trips of a small message to a process that sends it back, directly and
# through the proxy.

require "rbconfig"
require "socket"
require_relative "../clock"
require_relative "../proxy"

module Larder
  module Lab
    module Network
      # What is measured at a store includes this much of the lab's own.
      class Floor
        include Clock

        # rtt: seconds that were asked for, nil: without the proxy; seconds: of one round trip
        Sample = Struct.new(:rtt, :seconds, keyword_init: true)

        # Round trips, and the seconds after which fewer will do.
        TRIPS = 200
        SECONDS = 0.2
        MESSAGE = "x" * 100

        # Listens, says where, and sends back what it gets; ends with its standard input.
        ECHO = <<~RUBY
          require "socket"
          server = TCPServer.new("127.0.0.1", 0)
          puts server.addr[1]
          $stdout.flush
          Thread.new { $stdin.read; exit!(0) }
          loop do
            Thread.start(server.accept) do |client|
              client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
              while (bytes = client.readpartial(65_536))
                client.write(bytes)
              end
            rescue SystemCallError, IOError
              client.close
            end
          end
        RUBY
        private_constant :ECHO

        # @return [Array<Float>] seconds of round trips to a process on this host
        def self.straight
          new([], nil).straight
        end

        # @param rtts [Array<Float>] seconds
        # @param dir [String] for the proxy's log
        def initialize(rtts, dir)
          @rtts = rtts
          @dir = dir
        end

        # @return [Array<Sample>] without the proxy, then at each round-trip time
        def samples
          with_echo do |port|
            wires = @rtts.map { |rtt| Proxy::Wire.new(rtt: rtt) }
            proxy = Proxy.new("127.0.0.1:#{port}", wires: wires, log: File.join(@dir, "floor.log")).start
            [nil, *@rtts].zip([port, *proxy.addresses]).flat_map do |rtt, address|
              trips(address).map { |seconds| Sample.new(rtt: rtt, seconds: seconds) }
            end
          ensure
            proxy&.stop
          end
        end

        # @return [Array<Float>] seconds without the proxy
        def straight
          with_echo { |port| trips(port) }
        end

        private

        def with_echo
          duty_reader, duty = IO.pipe
          reader, writer = IO.pipe
          pid = Process.spawn({ "RUBYOPT" => nil }, RbConfig.ruby, "--disable=gems", "-e", ECHO,
                              in: duty_reader, out: writer, pgroup: true)
          [duty_reader, writer].each(&:close)
          yield Integer(reader.gets)
        ensure
          [duty, reader].each { |pipe| pipe&.close }
          Process.wait(pid) if pid
        end

        def trips(port)
          client = TCPSocket.new(Proxy::HOST, port)
          client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
          limit = now + SECONDS
          taken = []
          taken << trip(client) while taken.size < TRIPS && (taken.empty? || now < limit)
          taken
        ensure
          client&.close
        end

        def trip(client)
          started = now
          client.write(MESSAGE)
          client.read(MESSAGE.bytesize)
          now - started
        end
      end
    end
  end
end
