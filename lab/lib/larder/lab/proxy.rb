# frozen_string_literal: true

# Starts the process of the proxy that delays and limits, tells where it listens, and stops it. What the proxy does to
# bytes is in proxy/.

require "fileutils"
require "rbconfig"
require_relative "endpoint"
require_relative "errors"

module Larder
  module Lab
    # Stands between a client and a server as a network would: adds a round-trip time, half of it each way, and limits
    # bandwidth each way. A chunk leaves when those before it have left and then travels. A handshake takes no time, and
    # there is no slow start and no loss: what is modelled is a warm connection on a wire that is otherwise idle.
    #
    # @example
    #   proxy = Proxy.new("/run/redis.sock", wires: [Proxy::Wire.new(rtt: 0.0005, bandwidth: 1e9)], log: "proxy.log")
    #   proxy.start
    #   proxy.addresses   # => [37512], a port of 127.0.0.1
    #   proxy.stop
    class Proxy
      # rtt: seconds there and back; bandwidth: bits a second each way, nil: no limit; socket: path of the Unix socket
      # to listen on, nil: a port of the loopback interface.
      Wire = Struct.new(:rtt, :bandwidth, :socket, keyword_init: true) do
        # @return [String] as the process of the proxy is told
        def to_argument
          [rtt, bandwidth || "none", socket].join(",")
        end
      end

      SCRIPT = File.expand_path("proxy/main.rb", __dir__)
      # Where it listens that has no Unix socket.
      HOST = "127.0.0.1"

      # Where a server is found by its endpoint, see {Endpoint}.
      # @param endpoint [Hash{String=>Object}]
      # @return [String] path of a Unix socket, or host:port
      # @raise [Unavailable] it does not say
      def self.target(endpoint)
        return endpoint["socket"] if endpoint["socket"]
        return endpoint.values_at("host", "port").join(":") if endpoint["host"] && endpoint["port"]

        raise Unavailable, "it is not known where its server listens, so nothing can stand between"
      end

      # Starts one in front of a server, which listens as the server does: at a Unix socket, or a port. Works in the
      # present directory.
      # @param endpoint [Hash{String=>Object}] of the server, see {Endpoint}
      # @param wire [Wire]
      # @param name [String] of the socket
      # @return [Array(Proxy, Hash)] and the server by way of it
      # @raise [Unavailable]
      def self.before(endpoint, wire, name)
        path = File.join(Dir.pwd, name) if endpoint["socket"]
        FileUtils.rm_f(path) if path
        wire = Wire.new(rtt: wire.rtt, bandwidth: wire.bandwidth, socket: path)
        proxy = new(target(endpoint), wires: [wire], log: File.join(Dir.pwd, "proxy.log")).start
        address = proxy.addresses.first
        [proxy, path ? Endpoint.by_socket(endpoint, address) : Endpoint.by_way_of(endpoint, HOST, address)]
      end

      # @return [Array<Integer, String>] ports and paths at which the wires are entered, in the order given
      attr_reader :addresses
      # @return [Integer, nil] pid of the process
      attr_reader :pid

      # @param target [String] path of the server's Unix socket, or host:port
      # @param wires [Array<Wire>]
      # @param log [String] file for what goes wrong
      def initialize(target, wires:, log:)
        @target = target
        @wires = wires
        @log = log
      end

      # Starts the process and waits until it listens.
      # @return [self]
      # @raise [Unavailable] if it cannot listen, or cannot reach the server
      def start
        duty_reader, @duty = IO.pipe
        reader, writer = IO.pipe
        @pid = Process.spawn({ "RUBYOPT" => nil }, RbConfig.ruby, "--disable=gems", SCRIPT, @target,
                             *@wires.map(&:to_argument), in: duty_reader, out: writer, err: [@log, "a"], pgroup: true)
        duty_reader.close
        writer.close
        @addresses = @wires.filter_map { reader.gets&.chomp }.map { |line| line.match?(/\A\d+\z/) ? line.to_i : line }
        reader.close
        give_up if @addresses.size < @wires.size
        self
      end

      # Ends the process, and with it all connections.
      # @return [void]
      def stop
        @duty&.close
        Process.wait(@pid) if @pid
      rescue Errno::ECHILD
        nil
      ensure
        @pid = @duty = nil
      end

      # @return [String, nil] the last thing that went wrong, such as a server that was gone
      def complaint
        File.exist?(@log) ? File.read(@log, encoding: "UTF-8").scrub.lines.map(&:strip).reject(&:empty?).last : nil
      end

      private

      def give_up
        stop
        raise Unavailable, "the proxy does not start: #{complaint || "it printed nothing"}"
      end
    end
  end
end
